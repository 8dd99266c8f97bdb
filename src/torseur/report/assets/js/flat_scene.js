// The animated mechanism on a plain canvas, for browsers without WebGL2: shapes as shaded strokes, far ones first.
import { unpackMesh } from "./decode.js";
import { add, dot, project, rotate, unit } from "./linear.js";
import { faceNormals } from "./meshes.js";

export class FlatScene {
  constructor(stage) {
    this.stage = stage;
    this.canvas = stage.canvas;
    this.context = this.canvas.getContext("2d");
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
    const strokes = [...stage.bodies.flatMap((body, k) => this.strokesOf(body, k)), ...this.overlayStrokes()];
    strokes.sort((a, b) => b.depth - a.depth).forEach((stroke) => this.paint(stroke));
  }

  // Pixel position, depth and pixels per metre of a world point.
  toScreen(point) {
    const [x, y, , w] = project(this.stage.camera.matrix(), point), { clientWidth, clientHeight } = this.canvas;
    return { x: (x / w * 0.5 + 0.5) * clientWidth, y: (0.5 - y / w * 0.5) * clientHeight, depth: w, scale: clientHeight / (w * 0.62) };
  }

  strokesOf(body, k) {
    const [p, q] = this.stage.motion.pose(k, this.stage.time()), marked = this.stage.highlighted();
    const faded = marked.size > 0 && !marked.has(k);
    return body.shapes.flatMap((shape) => {
      if (shape.kind === "mesh") return this.facesOf(shape, p, q, { faded, colour: this.stage.colours().bodyColours[k] });
      const points = outline(shape).map((point) => this.toScreen(add(p, rotate(q, point))));
      const depth = points.reduce((sum, point) => sum + point.depth, 0) / points.length;
      const radius = shape.radius ?? this.stage.lineRadius * 2;
      return [{ shape, points, depth, radius, faded, marked: marked.has(k), colour: this.stage.colours().bodyColours[k] }];
    });
  }

  overlayStrokes() {
    const { stage } = this;
    return stage.overlays.flatMap((overlay, k) => overlay.shapes(stage.time()).map(({ from, to, radius }) => {
      const points = [this.toScreen(from), this.toScreen(to)], shape = { kind: "capsule", shade: 1 };
      return { shape, points, depth: points[0].depth, radius, faded: false, marked: false, colour: stage.colours().overlayColours[k] };
    }));
  }

  // The triangles of a mesh that face the viewer, lighter towards the lamp.
  facesOf(shape, p, q, style) {
    const { points, corners } = unpackMesh(shape), seen = [];
    for (let at = 0; at < points.length; at += 3) seen.push(this.toScreen(add(p, rotate(q, points.slice(at, at + 3)))));
    return faceNormals(points, corners).flatMap((normal, face) => {
      const [a, b, c] = [0, 1, 2].map((k) => seen[corners[3 * face + k]]);
      if ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) >= 0) return [];
      const light = 0.6 + 0.5 * Math.max(0, dot(rotate(q, unit(normal.slice(0, 3))), this.stage.light));
      return [{ points: [a, b, c], depth: (a.depth + b.depth + c.depth) / 3, fill: shade(style.colour, light), ...style }];
    });
  }

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

  paint(stroke) {
    if (stroke.fill) return this.paintFace(stroke);
    const { shape, points, radius, faded, marked, colour } = stroke;
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
      for (const [style, size] of [[edge, width + (marked ? 5 : 1.5)], [shade(colour, shape.shade), width], [shade(colour, 1.25), width * 0.25]]) {
        path();
        context.strokeStyle = style;
        context.lineWidth = size;
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }

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
    const shown = this.stage.shownPath(), { context } = this;
    if (!shown) return;
    context.beginPath();
    this.stage.paths[shown.index].map((p) => this.toScreen(p)).forEach(({ x, y }, k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.globalAlpha = 0.35;
    context.strokeStyle = shade(this.stage.colours().bodyColours[shown.body], 1);
    context.lineWidth = 1;
    context.stroke();
    context.globalAlpha = 1;
  }

  still() {
    this.draw();
    return this.canvas.toDataURL("image/png");
  }
}

const FACES = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];

// Points that describe a shape on the screen: corners of a box, ends of a rod, centre of a ball.
function outline(shape) {
  if (shape.kind === "line") return shape.points;
  if (shape.kind === "sphere") return [shape.centre];
  if (shape.kind !== "box") return [shape.start, shape.end];
  const corners = [];
  for (const x of [-0.5, 0.5]) for (const y of [-0.5, 0.5]) for (const z of [-0.5, 0.5]) {
    corners.push(add(shape.centre, rotate(shape.turn, [x * shape.size[0], y * shape.size[1], z * shape.size[2]])));
  }
  return corners;
}

const shade = (colour, factor) => `rgb(${colour.map((c) => Math.round(255 * Math.min(1, c * factor))).join(" ")})`;
