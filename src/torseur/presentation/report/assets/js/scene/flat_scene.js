// The animated mechanism on a plain canvas, for browsers without WebGL2: shapes as shaded strokes, far ones first.
/** @import { Body, Label, PackedMesh, Quaternion, Shape, Vector } from "../data.js" */
/** @import { Colour } from "./stage.js" */
/** A point of the picture in pixels, its depth in metres and pixels per metre there. @typedef {{ x: number, y: number, depth: number, scale: number }} Spot */
/** A shape as it is painted: a stroke through its points, or faces where `fill` says their colour. @typedef {{ points: Spot[], depth: number, faded: boolean, colour: Colour, fill?: string, shape?: { kind: string, shade: number }, radius?: number, marked?: boolean }} Stroke */
import { unpackMesh } from "../numbers/decode.js";
import { add, dot, project, rotate, subtract, unit } from "../numbers/linear.js";
import { strands } from "./elements.js";
import { cornersOf, enclosure, faceNormals, vertexOf } from "./meshes.js";
import { Stage } from "./stage.js";

export class FlatScene {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.canvas = stage.canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.waiting = 0; // the frame that is asked for
    /** @type {(() => void) | null} */
    this.onFrame = null;
    this.request();
  }

  present() { this.request(); }

  refresh() { this.request(); }

  request() {
    if (!this.waiting) this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); this.onFrame?.(); });
  }

  draw() {
    const { canvas, context, stage } = this, ratio = Math.min(devicePixelRatio || 1, 2);
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height) return;
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    stage.camera.aspect = width / height;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = shade(stage.colours().ground, 1);
    context.fillRect(0, 0, width, height);
    this.drawPath();
    const strokes = [...stage.bodies.flatMap((body, k) => this.strokesOf(body, k)), ...this.elementStrokes(), ...this.overlayStrokes()];
    strokes.sort((a, b) => b.depth - a.depth).forEach((stroke) => this.paint(stroke));
    stage.labels.place();
  }

  /** Pixel position, depth and pixels per metre of a world point. @param {Vector} point @returns {Spot} */
  toScreen(point) {
    const [x, y, , w] = project(this.stage.camera.matrix(), point), { clientWidth, clientHeight } = this.canvas;
    // Seen flat, w is 1 everywhere; depth is then measured from the eye.
    const { camera } = this.stage, depth = camera.flat ? dot(camera.axes().out, subtract(camera.eye(), point)) : w;
    return { x: (x / w * 0.5 + 0.5) * clientWidth, y: (0.5 - y / w * 0.5) * clientHeight, depth, scale: clientHeight / ((camera.flat ? camera.distance : w) * 0.62) };
  }

  /** @param {Body} body @param {number} k @returns {Stroke[]} */
  strokesOf(body, k) {
    const [p, q] = this.stage.motion.pose(k, this.stage.time()), marked = this.stage.highlightedBodies();
    const faded = marked.size > 0 && !marked.has(k);
    return body.shapes.flatMap((shape) => {
      /** @type {Colour} */
      const colour = shape.paint ? [shape.paint[0], shape.paint[1], shape.paint[2]] : this.stage.colours().bodyColours[k];
      if (shape.kind === "label") return [];
      if (shape.kind === "mesh") return this.facesOf(shape, p, q, { faded, colour });
      const points = outline(shape).map((point) => this.toScreen(add(p, rotate(q, point))));
      const depth = points.reduce((sum, point) => sum + point.depth, 0) / points.length;
      return [{ shape, points, depth, radius: radiusOf(shape) || this.stage.lineRadius * 2, faded, marked: marked.has(k), colour }];
    });
  }

  /** @returns {Stroke[]} */
  elementStrokes() {
    const { stage } = this, poses = stage.poses(), shape = { kind: "line", shade: 1 };
    return stage.elements.flatMap((element) => strands(element, Stage.anchorsOf(element, poses)).map(({ points, radius }) => {
      const seen = points.map((point) => this.toScreen(point)), { paint } = element;
      const depth = seen.reduce((sum, point) => sum + point.depth, 0) / seen.length;
      return { shape, points: seen, depth, radius, faded: false, marked: false, colour: paint ? [paint[0], paint[1], paint[2]] : stage.colours().element };
    }));
  }

  /** @returns {Stroke[]} */
  overlayStrokes() {
    const { stage } = this;
    return stage.overlays.flatMap((overlay, k) => overlay.shapes(stage.time()).map(({ from, to, radius }) => {
      const points = [this.toScreen(from), this.toScreen(to)], shape = { kind: "capsule", shade: 1 };
      return { shape, points, depth: points[0].depth, radius, faded: false, marked: false, colour: stage.colours().overlayColours[k] };
    }));
  }

  /** The triangles of a mesh that face the viewer, lighter towards the lamp. @param {PackedMesh} shape @param {Vector} p @param {Quaternion} q @param {{ faded: boolean, colour: Colour }} style @returns {Stroke[]} */
  facesOf(shape, p, q, style) {
    const { points, corners } = unpackMesh(shape);
    const seen = Array.from({ length: points.length / 3 }, (_, vertex) => this.toScreen(add(p, rotate(q, vertexOf(points, vertex)))));
    return faceNormals(points, corners).flatMap(({ normal }, face) => {
      const [a, b, c] = [0, 1, 2].map((k) => seen[corners[3 * face + k]]);
      if ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) >= 0) return [];
      const light = 0.6 + 0.5 * Math.max(0, dot(rotate(q, unit(normal)), this.stage.light));
      return [{ points: [a, b, c], depth: (a.depth + b.depth + c.depth) / 3, fill: shade(style.colour, light), ...style }];
    });
  }

  /** @param {Stroke & { fill: string }} face */
  paintFace({ points, fill, faded }) {
    const { context } = this;
    context.globalAlpha = faded ? 0.3 : 1;
    context.beginPath();
    points.forEach(({ x, y }, k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.fillStyle = context.strokeStyle = fill;
    context.lineWidth = 0.6;
    context.fill();
    context.stroke();
    context.globalAlpha = 1;
  }

  /** @param {Stroke} stroke */
  paint(stroke) {
    if (stroke.fill !== undefined) return this.paintFace({ ...stroke, fill: stroke.fill });
    const { shape = { kind: "line", shade: 1 }, points, radius = 0, faded, marked, colour } = stroke;
    const { context } = this, width = Math.max(1.5, 2 * radius * points[0].scale);
    context.globalAlpha = faded ? 0.3 : 1;
    context.lineCap = shape.kind === "cylinder" ? "butt" : "round";
    context.lineJoin = "round";
    const path = () => {
      context.beginPath();
      points.forEach(({ x, y }, k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
      if (points.length === 1) context.lineTo(points[0].x + 0.01, points[0].y);
    };
    const edge = marked ? shade(this.stage.colours().accent, 1) : shade(colour, 0.6);
    if (shape.kind === "box") this.paintBox(points, edge, shade(colour, shape.shade));
    else {
      for (const [style, size] of /** @type {[string, number][]} */ ([[edge, width + (marked ? 5 : 1.5)], [shade(colour, shape.shade), width], [shade(colour, 1.25), width * 0.25]])) {
        path();
        context.strokeStyle = style;
        context.lineWidth = size;
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }

  /** @param {Spot[]} corners @param {string} edge @param {string} fill */
  paintBox(corners, edge, fill) {
    const { context } = this;
    for (const face of FACES) {
      context.beginPath();
      face.forEach((corner, k) => (k ? context.lineTo(corners[corner].x, corners[corner].y) : context.moveTo(corners[corner].x, corners[corner].y)));
      context.closePath();
      context.fillStyle = fill;
      context.fill();
      context.strokeStyle = edge;
      context.lineWidth = 1;
      context.stroke();
    }
  }

  drawPath() {
    const { context } = this;
    for (const { index, colour } of this.stage.shownPaths()) {
      context.beginPath();
      this.stage.paths[index].map((p) => this.toScreen(p)).forEach(({ x, y }, k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.globalAlpha = 0.35;
      context.strokeStyle = shade(colour, 1);
      context.lineWidth = 1;
      context.stroke();
      context.globalAlpha = 1;
    }
  }

  still() {
    this.draw();
    return this.canvas.toDataURL("image/png");
  }
}

const FACES = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];

/** The radius of the stroke that stands for a shape; 0 for what is thin or filled. @param {Exclude<Shape, PackedMesh>} shape */
function radiusOf(shape) {
  if (shape.kind === "ring") return shape.wire;
  if (shape.kind === "ellipsoid") return (shape.size[0] + shape.size[1] + shape.size[2]) / 3;
  return "radius" in shape ? shape.radius ?? 0 : 0;
}

/** Points that describe a shape on the screen: corners of a box, ends of a rod, centre of a ball. @param {Exclude<Shape, PackedMesh | Label>} shape @returns {Vector[]} */
function outline(shape) {
  if (shape.kind === "line") return shape.points;
  if (shape.kind === "ring") return [...enclosure(shape), enclosure(shape)[0]];
  if (shape.kind === "sphere" || shape.kind === "ellipsoid") return [shape.centre];
  return shape.kind === "box" ? cornersOf(shape) : [shape.start, shape.end];
}

/** @param {Colour} colour @param {number} factor */
const shade = (colour, factor) => `rgb(${colour.map((c) => Math.round(255 * Math.min(1, c * factor))).join(" ")})`;
