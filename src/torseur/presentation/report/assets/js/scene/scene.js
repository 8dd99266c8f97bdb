// The animated mechanism in WebGL2. Drafts while things move on slow machines, a smooth picture when they rest.
/** @import { Shape, Vector } from "../data.js" */
/** @import { Drawable, Program } from "./renderer.js" */
/** @import { Mesh } from "./meshes.js" */
/** @import { Palette } from "./stage.js" */
/** @typedef {"fine" | "draft"} Quality */
/** @typedef {Record<"body" | "depth" | "outline" | "backdrop" | "copy" | "floorShadow" | "path", Program>} Programs */
/** Camera, lamp and colours of one frame. @typedef {{ camera: Float32Array, eye: Vector, lamp: Float32Array, light: Vector, middle: Vector, radius: number } & Palette} Viewing */
/** @typedef {ReturnType<typeof shadowTarget>} ShadowTarget */
import { add, lookAt, multiply, norm, orthographic, project, scale, subtract } from "../numbers/linear.js";
import { elementMesh } from "./elements.js";
import { bodyMesh, joinMeshes } from "./meshes.js";
import { PARTS } from "./overlays.js";
import { discard, isSoftware, makeProgram, pictureTarget, shadowTarget, smoothTarget, upload } from "./renderer.js";
import { BACKDROP, BODY, COPY, DEPTH, FLOOR_SHADOW, OUTLINE, PATH } from "./shaders.js";
import { Stage } from "./stage.js";

const OUTLINE_PIXELS = 2.6;
const REST_MS = 160;
const SLOW_FRAME_MS = 45;
const TAIL = 0.16;
const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

/** @param {Shape} shape */
const opacityOf = (shape) => (shape.paint ? shape.paint[3] : 1);

export class Scene {
  /** @param {WebGL2RenderingContext} gl @param {Stage} stage */
  constructor(gl, stage) {
    this.gl = gl;
    this.stage = stage;
    this.canvas = stage.canvas;
    this.slow = isSoftware(gl);
    this.programs = { fine: this.compile(2, 1.3), draft: this.compile(0, 1) };
    /** @type {Drawable[]} */
    this.meshes = [];
    /** Shapes that one sees through, drawn after all others. @type {{ body: number, opacity: number, draw: Drawable }[]} */
    this.clear = [];
    /** @type {Drawable | null} */
    this.elements = null;
    this.elementsAt = NaN;
    /** @type {Drawable[]} */
    this.paths = [];
    const parts = Object.entries(stage.overlays.length ? PARTS : {});
    this.parts = Object.fromEntries(parts.map(([name, shape]) => [name, this.uploadShapes([shape])]));
    /** @type {ReturnType<typeof smoothTarget> | null} */
    this.smooth = null;
    /** @type {ReturnType<typeof pictureTarget> | null} */
    this.backdrop = null;
    this.backdropKey = "";
    this.waiting = 0; // the frame that is asked for
    /** @type {(() => void) | null} */
    this.onFrame = null;
    this.pace = { last: 0, mean: 0, frames: 0 }; // in milliseconds
    /** @type {Quality | ""} */
    this.drawn = "";
    this.shadows = { fine: shadowTarget(gl, 2048), draft: shadowTarget(gl, 512) };
    this.present(true);
  }

  /** Take over what the stage shows now: the paths, and the bodies where they look different. @param {boolean} withBodies */
  present(withBodies) {
    if (withBodies) {
      this.meshes.forEach((mesh) => mesh.free());
      this.clear.forEach(({ draw }) => draw.free());
      this.meshes = this.stage.bodies.map((body) => this.uploadShapes(body.shapes.filter((shape) => opacityOf(shape) === 1)));
      this.clear = this.stage.bodies.flatMap((body, k) => body.shapes.filter((shape) => opacityOf(shape) < 1).map((shape) => (
        { body: k, opacity: opacityOf(shape), draw: this.uploadShapes([shape]) })));
    }
    this.elementsAt = NaN;
    this.paths.forEach((path) => path.free());
    this.paths = this.stage.paths.map((points) => this.uploadPath(points));
    this.refresh();
  }

  /** @param {number} taps @param {number} spread @returns {Programs} */
  compile(taps, spread) {
    const constants = { TAPS: taps, SPREAD: spread.toFixed(1) }, gl = this.gl;
    /** @param {{ vertex: string, fragment: string }} source */
    const program = (source) => makeProgram(gl, source, constants);
    return {
      body: program(BODY), depth: program(DEPTH), outline: program(OUTLINE), backdrop: program(BACKDROP), copy: program(COPY),
      floorShadow: program(FLOOR_SHADOW), path: program(PATH),
    };
  }

  /** @param {Shape[]} shapes @returns {Drawable} */
  uploadShapes(shapes) {
    if (!shapes.length) return Object.assign(() => {}, { free: () => {} });
    return this.uploadMesh(bodyMesh(shapes, this.stage.lineRadius));
  }

  /** @param {Required<Mesh>} mesh @returns {Drawable} */
  uploadMesh(mesh) {
    return upload(this.gl, { 0: [mesh.positions, 3], 1: [mesh.normals, 3], 2: [mesh.coats, 4], 3: [mesh.outward, 3] }, mesh.indices);
  }

  // Springs, ropes and rods where they are now; they change their length, so that their meshes are made for every frame.
  placeElements() {
    const { stage } = this, now = stage.time();
    if (this.elements && this.elementsAt === now) return;
    this.elementsAt = now;
    this.elements?.free();
    this.elements = null;
    if (!stage.elements.length) return;
    const poses = stage.poses(), mesh = joinMeshes(stage.elements.map((element) => elementMesh(element, Stage.anchorsOf(element, poses))));
    if (mesh.indices.length) this.elements = this.uploadMesh(mesh);
  }

  // Two vertices per sample, one on each side of the path; the shader moves them apart along the picture.
  /** @param {Vector[]} points */
  uploadPath(points) {
    /** @type {number[]} */
    const positions = [], /** @type {number[]} */ nexts = [], /** @type {number[]} */ sides = [], { times } = this.stage.motion;
    points.forEach((point, k) => {
      const next = k + 1 < points.length ? points[k + 1] : subtract(scale(point, 2), points[k - 1]);
      for (const side of [-1, 1]) {
        positions.push(...point);
        nexts.push(...next);
        sides.push(side, times[k]);
      }
    });
    return upload(this.gl, { 0: [positions, 3], 1: [nexts, 3], 2: [sides, 2] }, null, this.gl.TRIANGLE_STRIP);
  }

  // Colours changed: forget the backdrop and draw again.
  refresh() {
    this.backdropKey = "";
    this.request();
  }

  // Draw soon; on a slow machine as a draft first, and finely once nothing has changed for a moment.
  request() {
    if (!this.waiting) this.waiting = requestAnimationFrame((now) => { this.waiting = 0; this.frame(now); });
  }

  /** @param {number} now */
  frame(now) {
    this.watchPace(now);
    this.draw(this.slow ? "draft" : "fine");
    this.onFrame?.();
    if (!this.slow) return;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.draw("fine"), REST_MS);
  }

  /** A machine that cannot keep pace while playing gets drafts from then on. @param {number} now in milliseconds */
  watchPace(now) {
    const gap = now - (this.pace.last || now), { mean, frames } = this.pace;
    this.pace.last = now;
    if (gap <= 0 || gap > 500) return; // a pause between motions is no slow frame
    this.pace.mean = frames ? 0.9 * mean + 0.1 * gap : gap;
    this.pace.frames = frames + 1;
    if (this.pace.frames > 20 && this.pace.mean > SLOW_FRAME_MS) this.slow = true;
  }

  /** Fit the canvas to its place; says whether there is one. @param {Quality} quality */
  resize(quality) {
    const { canvas, gl } = this, ratio = quality === "fine" && !this.slow ? Math.min(devicePixelRatio || 1, 2) : 1;
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (!width || !height) return false;
    if (canvas.width !== width || canvas.height !== height) {
      [canvas.width, canvas.height] = [width, height];
      discard(gl, this.smooth);
      this.smooth = null;
    }
    this.stage.camera.aspect = width / height;
    return true;
  }

  /** @param {Quality} quality */
  draw(quality) {
    const gl = this.gl;
    if (gl.isContextLost() || !this.resize(quality)) return;
    const programs = this.programs[quality], matrices = this.stage.motion.matrices(this.stage.time());
    const view = this.viewing(matrices);
    this.placeElements();
    this.drawShadowMap(programs, this.shadows[quality], view, matrices);
    const backdrop = this.drawBackdrop(programs, quality, view);
    if (quality === "fine") this.smooth ??= smoothTarget(gl, this.canvas.width, this.canvas.height);
    const target = quality === "fine" ? this.smooth : null;
    this.begin(target?.frame ?? null);
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(null);
    gl.bindTexture(gl.TEXTURE_2D, backdrop.texture);
    programs.copy.use({ picture: 0 });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    this.drawPicture(programs, this.shadows[quality], view, matrices);
    if (target) this.resolve(target.frame);
    this.stage.labels.place();
    this.drawn = quality;
  }

  /** Camera, lamp and colours of this frame. @param {Float32Array[]} matrices @returns {Viewing} */
  viewing(matrices) {
    const { camera, light } = this.stage, { middle, radius } = this.extent(matrices);
    const lamp = multiply(orthographic(radius, 0, 4 * radius), lookAt(add(middle, scale(light, 2 * radius)), middle, [1, 0, 0]));
    return { camera: camera.matrix(), eye: camera.eye(), lamp, light, middle, radius, ...this.stage.colours() };
  }

  /** A ball around all bodies, wide enough for what they carry. @param {Float32Array[]} matrices */
  extent(matrices) {
    const balls = this.stage.reaches.map(({ centre, radius }, k) => ({ centre: transform(matrices[k], centre), radius })).filter(({ radius }) => radius > 0);
    const sum = balls.reduce((total, { centre }) => add(total, centre), /** @type {Vector} */ ([0, 0, 0]));
    const middle = scale(sum, 1 / Math.max(1, balls.length));
    return { middle, radius: Math.max(...balls.map(({ centre, radius }) => norm(subtract(centre, middle)) + radius), 1e-6) * 1.02 };
  }

  /** @param {Programs} programs @param {ShadowTarget} target @param {Viewing} view @param {Float32Array[]} matrices */
  drawShadowMap(programs, target, view, matrices) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
    gl.viewport(0, 0, target.size, target.size);
    gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    programs.depth.use({ camera: view.lamp });
    this.eachBody((draw, k) => { programs.depth.set({ place: matrices[k] }); draw(); });
    if (this.elements) { programs.depth.set({ place: IDENTITY }); this.elements(); }
  }

  /** The backdrop is drawn again only when the camera, the size or the colours have changed. @param {Programs} programs @param {Quality} quality @param {Viewing} view */
  drawBackdrop(programs, quality, view) {
    const gl = this.gl, coarse = quality === "draft" ? 2 : 1;
    const width = Math.ceil(this.canvas.width / coarse), height = Math.ceil(this.canvas.height / coarse);
    const key = [...view.camera, width, height].join();
    const sharper = coarse === 2 && this.backdropKey === [...view.camera, this.canvas.width, this.canvas.height].join();
    if (this.backdrop && (key === this.backdropKey || sharper)) return this.backdrop;
    this.backdropKey = key;
    if (this.backdrop?.width !== width || this.backdrop?.height !== height) {
      discard(gl, this.backdrop);
      this.backdrop = null;
    }
    this.backdrop ??= pictureTarget(gl, width, height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.backdrop.frame);
    gl.viewport(0, 0, width, height);
    gl.disable(gl.DEPTH_TEST);
    programs.backdrop.use({ ...this.stage.floor, cell: this.stage.cell(), ...this.stage.rays(), ...view, hasFloor: this.stage.floor && !this.stage.camera.flat ? 1 : 0 });
    gl.bindVertexArray(null);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    return this.backdrop;
  }

  /** @param {WebGLFramebuffer | null} frame */
  begin(frame) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  /** @param {Programs} programs @param {ShadowTarget} shadow @param {Viewing} view @param {Float32Array[]} matrices */
  drawPicture(programs, shadow, view, matrices) {
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, shadow.texture);
    const lighting = { ...view, shadowMap: 0, texel: 1 / shadow.size, offset: view.radius / shadow.size };
    const height = this.stage.floor?.floorHeight;
    if (height !== undefined && view.eye[2] > height && !this.stage.camera.flat) this.drawFloorShadow(programs, lighting, height);
    gl.enable(gl.DEPTH_TEST);
    this.drawBodies(programs, lighting, matrices);
    this.drawPaths(programs, view);
  }

  /** @param {Programs} programs @param {Viewing} lighting @param {number} height of the floor */
  drawFloorShadow(programs, lighting, height) {
    const gl = this.gl, { middle, radius, light } = lighting, drop = (middle[2] - height) / light[2];
    const spot = [middle[0] - light[0] * drop, middle[1] - light[1] * drop, height];
    this.blending(() => {
      programs.floorShadow.use({ ...lighting, middle: spot, half_: radius * 1.35, strength: lighting.shadow });
      gl.bindVertexArray(null);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    });
  }

  /** @param {Programs} programs @param {Viewing} lighting @param {Float32Array[]} matrices */
  drawBodies(programs, lighting, matrices) {
    const gl = this.gl, lightened = this.stage.highlightedBodies(), any = lightened.size > 0;
    programs.body.use({ ...lighting, ...this.stage.rays(), opacity: 1 });
    if (this.elements) {
      programs.body.set({ place: IDENTITY, colour: lighting.element, faded: any ? 0.66 : 0 });
      this.elements();
    }
    this.eachBody((draw, k) => {
      programs.body.set({ place: matrices[k], colour: lighting.bodyColours[k], faded: any && !lightened.has(k) ? 0.66 : 0 });
      draw();
    });
    this.drawOverlays(programs, lighting);
    this.drawClear(programs, lighting, matrices);
    if (!any) return;
    const pixelSize = [(2 * OUTLINE_PIXELS) / this.canvas.width, (2 * OUTLINE_PIXELS) / this.canvas.height];
    programs.outline.use({ camera: lighting.camera, colour: lighting.accent, pixelSize, step_: lighting.radius * 1e-3 });
    gl.enable(gl.CULL_FACE);
    gl.cullFace(gl.FRONT);
    this.eachBody((draw, k) => { if (lightened.has(k)) { programs.outline.set({ place: matrices[k] }); draw(); } });
    gl.disable(gl.CULL_FACE);
  }

  /** @param {Programs} programs @param {Viewing} lighting @param {Float32Array[]} matrices */
  drawClear(programs, lighting, matrices) {
    if (!this.clear.length) return;
    this.blending(() => {
      this.gl.depthMask(false);
      for (const { body, opacity, draw } of this.clear) {
        programs.body.set({ place: matrices[body], colour: lighting.bodyColours[body], faded: 0, opacity });
        draw();
      }
      this.gl.depthMask(true);
    });
    programs.body.set({ opacity: 1 });
  }

  /** Balls as they lie among the bodies, arrows in front of everything. @param {Programs} programs @param {Viewing} lighting */
  drawOverlays(programs, lighting) {
    const gl = this.gl;
    this.stage.overlays.forEach((overlay, k) => {
      const above = overlay.kind === "arrows";
      if (above) { gl.disable(gl.DEPTH_TEST); gl.enable(gl.CULL_FACE); gl.cullFace(gl.BACK); }
      for (const { part, matrix } of overlay.shapes(this.stage.time())) {
        programs.body.set({ place: matrix, colour: lighting.overlayColours[k], faded: 0 });
        this.parts[part]();
      }
      if (above) { gl.enable(gl.DEPTH_TEST); gl.disable(gl.CULL_FACE); }
    });
  }

  /** @param {Programs} programs @param {Viewing} view */
  drawPaths(programs, view) {
    const shown = this.stage.shownPaths();
    if (!shown.length) return;
    const { motion } = this.stage, ratio = this.canvas.width / this.canvas.clientWidth;
    this.blending(() => {
      programs.path.use({
        camera: view.camera, now: this.stage.time(), tail: TAIL * (motion.last - motion.first),
        pixelSize: [(2 * ratio) / this.canvas.width, (2 * ratio) / this.canvas.height],
      });
      this.gl.depthMask(false);
      for (const { index, colour } of shown) {
        programs.path.set({ colour });
        this.paths[index]();
      }
      this.gl.depthMask(true);
    });
  }

  /** @param {(draw: Drawable, k: number) => void} act */
  eachBody(act) { this.meshes.forEach((draw, k) => act(draw, k)); }

  /** @param {() => void} act */
  blending(act) {
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
    act();
    gl.disable(gl.BLEND);
  }

  /** @param {WebGLFramebuffer} frame */
  resolve(frame) {
    const gl = this.gl, { width, height } = this.canvas;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, frame);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // The present picture as a data address, for print.
  still() {
    this.draw("fine");
    return this.canvas.toDataURL("image/png");
  }
}

/** Where a placement takes a point. @param {Float32Array} m @param {Vector} v @returns {Vector} */
function transform(m, v) {
  const [x, y, z] = project(m, v);
  return [x, y, z];
}
