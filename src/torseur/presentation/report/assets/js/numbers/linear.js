// Vectors, unit quaternions (w, x, y, z) and column-major 4x4 matrices.
/** @import { Quaternion, Vector } from "../data.js" */

/** @param {Vector} a @param {Vector} b @returns {Vector} */
export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
/** @param {Vector} a @param {Vector} b @returns {Vector} */
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
/** @param {Vector} a @param {number} k @returns {Vector} */
export const scale = (a, k) => [a[0] * k, a[1] * k, a[2] * k];
/** @param {Vector} a @param {Vector} b */
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
/** @param {Vector} a @param {Vector} b @returns {Vector} */
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
/** @param {Vector | Quaternion} a */
export const norm = (a) => Math.hypot(...a);

/**
 * A vector or quaternion of length 1 in the same direction; zero stays zero.
 * @template {Vector | Quaternion} T
 * @param {T} a
 * @returns {T}
 */
export function unit(a) {
  const length = norm(a) || 1;
  return /** @type {T} */ (a.map((x) => x / length));
}

/** The turn back of a unit quaternion. @param {Quaternion} q @returns {Quaternion} */
export const inverse = ([w, x, y, z]) => [w, -x, -y, -z];

// With u the vector part: q v q* = v + 2 (w u × v + u × (u × v)), two cross products instead of two quaternion products.
/** @param {Quaternion} q @param {Vector} v @returns {Vector} */
export function rotate([w, x, y, z], v) {
  /** @type {Vector} */
  const u = [x, y, z];
  const c = cross(u, v), cc = cross(u, c);
  return [v[0] + 2 * (w * c[0] + cc[0]), v[1] + 2 * (w * c[1] + cc[1]), v[2] + 2 * (w * c[2] + cc[2])];
}

/** The turn q after the turn p is the Hamilton product of the two, first argument last. @param {Quaternion} q @param {Quaternion} p @returns {Quaternion} */
export function compose([a, b, c, d], [w, x, y, z]) {
  return [
    a * w - b * x - c * y - d * z,
    a * x + b * w + c * z - d * y,
    a * y - b * z + c * w + d * x,
    a * z + b * y - c * x + d * w,
  ];
}

// The shortest turn that takes direction `from` to direction `to`. The quaternion (1 + cos, from × to) points half way;
// opposite directions have no shortest turn, and half a turn about x does for the axes that a view can have upward.
/** @param {Vector} from @param {Vector} to @returns {Quaternion} */
export function turnBetween(from, to) {
  const a = unit(from), b = unit(to), cosine = dot(a, b);
  if (cosine < -1 + 1e-9) return [0, 1, 0, 0];
  return unit([1 + cosine, ...cross(a, b)]);
}

/** Between two turns, the shorter way round: linear and normalised. @param {Quaternion} p @param {Quaternion} q @param {number} weight @returns {Quaternion} */
export function blend(p, q, weight) {
  const sign = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0 ? -1 : 1;
  /** @param {0 | 1 | 2 | 3} i */
  const mix = (i) => p[i] * (1 - weight) + sign * q[i] * weight;
  return unit([mix(0), mix(1), mix(2), mix(3)]);
}

/** The matrix of a position and a turn. @param {Vector} p @param {Quaternion} q */
export function placement(p, [w, x, y, z]) {
  return new Float32Array([
    1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
    2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
    2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0,
    p[0], p[1], p[2], 1,
  ]);
}

/** The product a b of two matrices. @param {Float32Array} a @param {Float32Array} b */
export function multiply(a, b) {
  const product = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + row] * b[column * 4 + k];
      product[column * 4 + row] = sum;
    }
  }
  return product;
}

/** A lens that sees `angle` radians upward, as OpenGL has it: near is -1, far is 1. @param {number} angle @param {number} aspect @param {number} near @param {number} far */
export function perspective(angle, aspect, near, far) {
  const t = 1 / Math.tan(angle / 2), depth = 1 / (near - far);
  return new Float32Array([t / aspect, 0, 0, 0, 0, t, 0, 0, 0, 0, (far + near) * depth, -1, 0, 0, 2 * far * near * depth, 0]);
}

/** Parallel rays through a window of half height `half`, `aspect` times as wide. @param {number} half @param {number} near @param {number} far @param {number} [aspect] */
export function orthographic(half, near, far, aspect = 1) {
  const depth = 1 / (near - far);
  return new Float32Array([1 / (half * aspect), 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, 2 * depth, 0, 0, 0, (far + near) * depth, 1]);
}

/** World to camera coordinates: x to the right, y up, z towards the viewer. @param {Vector} eye @param {Vector} target @param {Vector} up */
export function lookAt(eye, target, up) {
  const z = unit(subtract(eye, target)), x = unit(cross(up, z)), y = cross(z, x);
  return new Float32Array([
    x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1,
  ]);
}

/** Clip-space point (x, y, z, w) of a world point. @param {Float32Array} m @param {Vector} p */
export const project = (m, p) => [0, 1, 2, 3].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);
