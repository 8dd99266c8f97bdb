// A camera that orbits a point: fitting, turning, moving, zooming, by pointer, touch and keyboard.
import { add, lookAt, multiply, perspective, scaled, subtract, dot, norm } from "./linear.js";

export const FIELD_OF_VIEW = 0.6;
const STEEPEST = 1.5;
const MARGIN = 1.16;

export class Camera {
  constructor(azimuth, elevation) {
    this.home = { azimuth, elevation };
    Object.assign(this, { azimuth, elevation, distance: 1, target: [0, 0, 0], aspect: 1.4, size: 1 });
  }

  axes() {
    const ca = Math.cos(this.azimuth), sa = Math.sin(this.azimuth), ce = Math.cos(this.elevation), se = Math.sin(this.elevation);
    return { right: [-sa, ca, 0], up: [-ca * se, -sa * se, ce], out: [ca * ce, sa * ce, se] };
  }

  eye() { return add(this.target, scaled(this.axes().out, this.distance)); }

  matrix() {
    const near = Math.max(this.distance - 4 * this.size, this.distance * 0.02);
    const lens = perspective(FIELD_OF_VIEW, this.aspect, near, this.distance + 12 * this.size);
    return multiply(lens, lookAt(this.eye(), this.target, [0, 0, 1]));
  }

  // Show all points as large as they fit from the present direction.
  fit(points) {
    const { right, up, out } = this.axes();
    const coordinates = [right, up, out].map((axis) => points.map((p) => dot(axis, p)));
    const middle = coordinates.map((values) => (Math.min(...values) + Math.max(...values)) / 2);
    this.target = add(add(scaled(right, middle[0]), scaled(up, middle[1])), scaled(out, middle[2]));
    this.size = Math.max(...points.map((p) => norm(subtract(p, this.target))), 1e-6);
    const high = Math.tan(FIELD_OF_VIEW / 2), wide = high * this.aspect;
    this.distance = Math.max(...points.map((p) => {
      const d = subtract(p, this.target);
      return Math.max(Math.abs(dot(d, right)) / wide, Math.abs(dot(d, up)) / high) * MARGIN + dot(d, out);
    }), this.size * 0.5);
  }

  turn(azimuth, elevation) {
    this.azimuth += azimuth;
    this.elevation = Math.max(-STEEPEST, Math.min(STEEPEST, this.elevation + elevation));
  }

  // Move the target with the pointer, in pixels of a picture of the given height.
  move(dx, dy, height) {
    const { right, up } = this.axes();
    const metres = (2 * this.distance * Math.tan(FIELD_OF_VIEW / 2)) / height;
    this.target = add(this.target, add(scaled(right, -dx * metres), scaled(up, dy * metres)));
  }

  zoom(factor) {
    this.distance = Math.max(this.size * 0.05, Math.min(this.size * 40, this.distance * factor));
  }

  look(azimuth, elevation) { Object.assign(this, { azimuth, elevation }); }
}

const ARROWS = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };

// Let pointer, touch, wheel and keys move the camera; `changed` redraws, `reset` goes home, `hover` tells the free pointer.
export function steer(canvas, camera, { changed, reset, hover }) {
  const pointers = new Map();
  let spread = 0;

  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
  });
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
