// A camera that orbits a point: fitting, turning, moving, zooming, by pointer, touch and keyboard.
/** @import { Vector } from "../data.js" */
import { add, multiply, orthographic, perspective, scale, subtract, dot, norm } from "../numbers/linear.js";

export const FIELD_OF_VIEW = 0.6;
const STEEPEST = 1.5;
const MARGIN = 1.16;

export class Camera {
  /** @param {number} azimuth @param {number} elevation in radians */
  constructor(azimuth, elevation) {
    this.home = { azimuth, elevation };
    this.azimuth = azimuth;
    this.elevation = elevation;
    this.distance = 1;
    /** @type {Vector} */
    this.target = [0, 0, 0];
    this.aspect = 1.4;
    this.size = 1; // radius of a ball around what is shown
    this.flat = false; // whether rays are parallel
  }

  /** Directions of the picture's right and upper edge, and towards the viewer. @returns {{ right: Vector, up: Vector, out: Vector }} */
  axes() {
    const ca = Math.cos(this.azimuth), sa = Math.sin(this.azimuth), ce = Math.cos(this.elevation), se = Math.sin(this.elevation);
    return { right: [-sa, ca, 0], up: [-ca * se, -sa * se, ce], out: [ca * ce, sa * ce, se] };
  }

  eye() { return add(this.target, scale(this.axes().out, this.distance)); }

  matrix() {
    const near = Math.max(this.distance - 4 * this.size, this.distance * 0.02);
    const lens = perspective(FIELD_OF_VIEW, this.aspect, near, this.distance + 12 * this.size);
    const half = this.distance * Math.tan(FIELD_OF_VIEW / 2), deep = this.distance + 12 * this.size;
    const { right, up, out } = this.axes(), eye = this.eye();
    // The camera's own axes, so that one that looks straight down has them too.
    const view = new Float32Array([
      right[0], up[0], out[0], 0, right[1], up[1], out[1], 0, right[2], up[2], out[2], 0, -dot(right, eye), -dot(up, eye), -dot(out, eye), 1,
    ]);
    return multiply(this.flat ? orthographic(half, this.distance - deep, deep, this.aspect) : lens, view);
  }

  // Show all points as large as they fit from the present direction. A point at (x, y, z) in camera axes about the target,
  // z towards the viewer, is inside the picture where |x| / wide <= distance - z, and likewise upward; the largest distance
  // that any point needs is enough for all.
  /** @param {Vector[]} points */
  fit(points) {
    const { right, up, out } = this.axes();
    const middle = [right, up, out].map((axis) => {
      const places = points.map((p) => dot(axis, p));
      return (Math.min(...places) + Math.max(...places)) / 2;
    });
    this.target = add(add(scale(right, middle[0]), scale(up, middle[1])), scale(out, middle[2]));
    this.size = Math.max(...points.map((p) => norm(subtract(p, this.target))), 1e-6);
    const high = Math.tan(FIELD_OF_VIEW / 2), wide = high * this.aspect;
    this.distance = Math.max(...points.map((p) => {
      const d = subtract(p, this.target);
      return Math.max(Math.abs(dot(d, right)) / wide, Math.abs(dot(d, up)) / high) * MARGIN + (this.flat ? 0 : dot(d, out));
    }), this.size * (this.flat ? 0.1 : 0.5));
  }

  /** @param {number} azimuth @param {number} elevation */
  turn(azimuth, elevation) {
    this.azimuth += azimuth;
    this.elevation = Math.max(-STEEPEST, Math.min(STEEPEST, this.elevation + elevation));
  }

  /** Move the target with the pointer, in pixels of a picture of the given height. @param {number} dx @param {number} dy @param {number} height */
  move(dx, dy, height) {
    const { right, up } = this.axes();
    const metres = (2 * this.distance * Math.tan(FIELD_OF_VIEW / 2)) / height;
    this.target = add(this.target, add(scale(right, -dx * metres), scale(up, dy * metres)));
  }

  /** @param {number} factor */
  zoom(factor) {
    this.distance = Math.max(this.size * 0.05, Math.min(this.size * 40, this.distance * factor));
  }

  /** @param {number} azimuth @param {number} elevation */
  look(azimuth, elevation) {
    this.azimuth = azimuth;
    this.elevation = elevation;
  }
}

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };

/**
 * Let pointer, touch, wheel and keys move the camera.
 * @param {HTMLCanvasElement} canvas
 * @param {Camera} camera
 * @param {{ changed: () => void, reset: () => void, hover: (event: PointerEvent | null) => void }} acts
 *   `changed` redraws, `reset` goes home, `hover` gets the free pointer, or nothing when it leaves
 */
export function steer(canvas, camera, { changed, reset, hover }) {
  /** @type {Map<number, PointerEvent>} */
  const pointers = new Map();
  let spread = 0;

  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
  });
  /** @param {PointerEvent} event */
  const release = (event) => { pointers.delete(event.pointerId); spread = 0; };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return hover(event);
    pointers.set(event.pointerId, event);
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    if (pointers.size === 2) pinch(dx / 2, dy / 2);
    else if (event.shiftKey || event.buttons === 2) camera.move(dx, dy, canvas.clientHeight);
    else camera.turn(-dx * 0.008, dy * 0.008);
    changed();
  });

  /** @param {number} dx @param {number} dy */
  function pinch(dx, dy) {
    const [a, b] = [...pointers.values()];
    const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (spread) camera.zoom(spread / now);
    spread = now;
    camera.move(dx, dy, canvas.clientHeight);
  }

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom(Math.exp(event.deltaY * 0.0012));
    changed();
  }, { passive: false });
  canvas.addEventListener("dblclick", reset);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("keydown", (event) => {
    const step = ARROWS[event.key];
    if (step && event.shiftKey) camera.move(step[0] * -300, step[1] * 300, canvas.clientHeight);
    else if (step) camera.turn(...step);
    else if (event.key === "+" || event.key === "=") camera.zoom(0.9);
    else if (event.key === "-") camera.zoom(1 / 0.9);
    else if (event.key === "0") return reset();
    else return;
    event.preventDefault();
    changed();
  });
}
