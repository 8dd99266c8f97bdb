// The animated mechanism in WebGL2. Drafts while things move on slow machines, a smooth picture when they rest.
import { add, lookAt, multiply, norm, orthographic, scaled, subtract } from "./linear.js";
import { bodyMesh } from "./meshes.js";
import { PARTS } from "./overlays.js";
import { discard, isSoftware, makeProgram, pictureTarget, shadowTarget, smoothTarget, upload } from "./renderer.js";
import { BACKDROP, BODY, COPY, DEPTH, FLOOR_SHADOW, OUTLINE, PATH } from "./shaders.js";

const OUTLINE_PIXELS = 2.6;
const REST_MS = 160;
const SLOW_FRAME_MS = 45;
const TAIL = 0.16;

export class Scene {
  constructor(gl, stage) {
    this.gl = gl;
    this.stage = stage;
    this.canvas = gl.canvas;
    this.slow = isSoftware(gl);
    this.programs = { fine: this.compile(2, 1.3), draft: this.compile(0, 1) };
    this.meshes = [];
    this.paths = [];
    this.parts = Object.fromEntries(Object.entries(stage.overlays.length ? PARTS : {}).map(([name, shape]) => [name, this.uploadBody({ shapes: [shape] })]));
    this.shadows = { fine: shadowTarget(gl, 2048), draft: shadowTarget(gl, 512) };
    this.present(true);
  }

  // Take over what the stage shows now: the paths, and the bodies where they look different.
  present(withBodies) {
    if (withBodies) {
      this.meshes.forEach((mesh) => mesh.free?.());
      this.meshes = this.stage.bodies.map((body) => this.uploadBody(body));
    }
    this.paths.forEach((path) => path.free());
    this.paths = this.stage.paths.map((points) => this.uploadPath(points));
    this.refresh();
  }

  compile(taps, spread) {
    const constants = { TAPS: taps, SPREAD: spread.toFixed(1) }, gl = this.gl;
    const make = (source) => makeProgram(gl, source, constants);
    return {
      body: make(BODY), depth: make(DEPTH), outline: make(OUTLINE), backdrop: make(BACKDROP), copy: make(COPY),
      floorShadow: make(FLOOR_SHADOW), path: make(PATH),
    };
  }

  uploadBody(body) {
    if (!body.shapes.length) return () => {};
    const mesh = bodyMesh(body.shapes, this.stage.lineRadius);
    const attributes = {
      0: [mesh.positions, 3], 1: [mesh.normals, 3], 2: [mesh.shades, 1], 3: [mesh.outward, 3],
    };
    return upload(this.gl, attributes, mesh.indices);
  }

  uploadPath(points) {
    const positions = [], nexts = [], sides = [], times = this.stage.motion.times;
    points.forEach((point, k) => {
      const next = k + 1 < points.length ? points[k + 1] : subtract(scaled(point, 2), points[k - 1]);
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

  frame(now) {
    this.watchPace(now);
    this.draw(this.slow ? "draft" : "fine");
    this.onFrame?.();
    if (!this.slow) return;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.draw("fine"), REST_MS);
  }

  // A machine that cannot keep pace while playing gets drafts from then on.
  watchPace(now) {
    const gap = now - (this.lastFrame ?? now);
    this.lastFrame = now;
    if (gap <= 0 || gap > 500) return;
    this.pace = this.pace === undefined ? gap : 0.9 * this.pace + 0.1 * gap;
    this.frames = (this.frames ?? 0) + 1;
    if (this.frames > 20 && this.pace > SLOW_FRAME_MS) this.slow = true;
  }

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

  draw(quality) {
    const gl = this.gl;
    if (gl.isContextLost() || !this.resize(quality)) return;
    const programs = this.programs[quality], matrices = this.stage.motion.matrices(this.stage.time());
    const view = this.viewing(matrices);
    this.drawShadowMap(programs, this.shadows[quality], view, matrices);
    this.drawBackdrop(programs, quality, view);
    if (quality === "fine") this.smooth ??= smoothTarget(gl, this.canvas.width, this.canvas.height);
    this.begin(quality === "fine" ? this.smooth.frame : null);
    this.drawPicture(programs, this.shadows[quality], view, matrices);
    if (quality === "fine") this.resolve();
    this.drawn = quality;
  }

  // Camera, lamp and colours of this frame.
  viewing(matrices) {
    const { camera, light } = this.stage, { middle, radius } = this.extent(matrices);
    const lamp = multiply(orthographic(radius, 0, 4 * radius), lookAt(add(middle, scaled(light, 2 * radius)), middle, [1, 0, 0]));
    return { camera: camera.matrix(), eye: camera.eye(), lamp, light, middle, radius, ...this.stage.colours() };
  }

  // A ball around the bodies that move, wide enough for what they carry; the fixed ones too when they are near.
  extent(matrices) {
    const centres = matrices.map((m, k) => add([m[12], m[13], m[14]], rotateBy(m, this.stage.reaches[k].centre)));
    const used = centres.map((c, k) => [c, this.stage.reaches[k].radius]).filter(([, radius]) => radius > 0);
    const middle = scaled(used.reduce((sum, [c]) => add(sum, c), [0, 0, 0]), 1 / Math.max(1, used.length));
    return { middle, radius: Math.max(...used.map(([c, radius]) => norm(subtract(c, middle)) + radius), 1e-6) * 1.02 };
  }

  drawShadowMap(programs, target, view, matrices) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
    gl.viewport(0, 0, target.size, target.size);
    gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    programs.depth.use({ camera: view.lamp });
    this.eachBody((draw, k) => { programs.depth.set({ place: matrices[k] }); draw(); });
  }

  // The backdrop is drawn again only when the camera, the size or the colours have changed.
  drawBackdrop(programs, quality, view) {
    const gl = this.gl, coarse = quality === "draft" ? 2 : 1;
    const width = Math.ceil(this.canvas.width / coarse), height = Math.ceil(this.canvas.height / coarse);
    const key = [...view.camera, width, height].join();
    const sharper = coarse === 2 && this.backdropKey === [...view.camera, this.canvas.width, this.canvas.height].join();
    if (key === this.backdropKey || sharper) return;
    this.backdropKey = key;
    if (this.backdrop?.width !== width || this.backdrop?.height !== height) {
      discard(gl, this.backdrop);
      this.backdrop = pictureTarget(gl, width, height);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.backdrop.frame);
    gl.viewport(0, 0, width, height);
    gl.disable(gl.DEPTH_TEST);
    programs.backdrop.use({ ...this.stage.floor, ...this.stage.rays(), ...view, hasFloor: this.stage.floor ? 1 : 0 });
    gl.bindVertexArray(null);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  begin(frame) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  drawPicture(programs, shadow, view, matrices) {
    const gl = this.gl;
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(null);
    gl.bindTexture(gl.TEXTURE_2D, this.backdrop.texture);
    programs.copy.use({ picture: 0 });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindTexture(gl.TEXTURE_2D, shadow.texture);
    const lighting = { ...view, shadowMap: 0, texel: 1 / shadow.size, offset: view.radius / shadow.size };
    if (this.stage.floor && view.eye[2] > this.stage.floor.floorHeight) this.drawFloorShadow(programs, lighting);
    gl.enable(gl.DEPTH_TEST);
    this.drawBodies(programs, lighting, matrices);
    this.drawPath(programs, view);
  }

  drawFloorShadow(programs, lighting) {
    const gl = this.gl, { floorHeight } = this.stage.floor, { middle, radius, light } = lighting;
    const drop = (middle[2] - floorHeight) / light[2];
    const spot = [middle[0] - light[0] * drop, middle[1] - light[1] * drop, floorHeight];
    this.blending(() => {
      programs.floorShadow.use({ ...lighting, middle: spot, half_: radius * 1.35, strength: lighting.shadow });
      gl.bindVertexArray(null);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    });
  }

  drawBodies(programs, lighting, matrices) {
    const gl = this.gl, lightened = this.stage.highlighted(), any = lightened.size > 0;
    programs.body.use(lighting);
    this.eachBody((draw, k) => {
      programs.body.set({ place: matrices[k], colour: lighting.bodyColours[k], faded: any && !lightened.has(k) ? 0.66 : 0 });
      draw();
    });
    this.drawOverlays(programs, lighting);
    if (!any) return;
    const pixelSize = [(2 * OUTLINE_PIXELS) / this.canvas.width, (2 * OUTLINE_PIXELS) / this.canvas.height];
    programs.outline.use({ camera: lighting.camera, colour: lighting.accent, pixelSize, step_: lighting.radius * 1e-3 });
    gl.enable(gl.CULL_FACE);
    gl.cullFace(gl.FRONT);
    this.eachBody((draw, k) => { if (lightened.has(k)) { programs.outline.set({ place: matrices[k] }); draw(); } });
    gl.disable(gl.CULL_FACE);
  }

  // Balls as they lie among the bodies, arrows in front of everything.
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

  drawPath(programs, view) {
    const shown = this.stage.shownPath();
    if (shown === null) return;
    const { motion } = this.stage, ratio = this.canvas.width / this.canvas.clientWidth;
    this.blending(() => {
      programs.path.use({
        camera: view.camera, colour: view.bodyColours[shown.body], now: this.stage.time(), tail: TAIL * (motion.last - motion.first),
        pixelSize: [(2 * ratio) / this.canvas.width, (2 * ratio) / this.canvas.height],
      });
      this.gl.depthMask(false);
      this.paths[shown.index]();
      this.gl.depthMask(true);
    });
  }

  eachBody(act) { this.meshes.forEach((draw, k) => act(draw, k)); }

  blending(act) {
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
    act();
    gl.disable(gl.BLEND);
  }

  resolve() {
    const gl = this.gl, { width, height } = this.canvas;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.smooth.frame);
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

const rotateBy = (m, v) => [0, 1, 2].map((i) => m[i] * v[0] + m[4 + i] * v[1] + m[8 + i] * v[2]);
