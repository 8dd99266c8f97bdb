// Packed numbers of the page back to arrays, and the poses of all bodies at any time.
/** @import { Packed, PackedCourse, PackedMesh, PackedMotion, Pose, Quaternion, Vector } from "../data.js" */
import { add, blend, compose, placement, rotate, scale, turnBetween } from "./linear.js";

const STEPS = 32767;

/** Numbers arrive packed as text, or as bytes. @param {Packed} packed @returns {ArrayBuffer} */
export function bytesOf(packed) {
  if (typeof packed !== "string") return packed;
  return Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)).buffer;
}

/** @param {Packed} packed */
export const floatsOf = (packed) => new Float32Array(bytesOf(packed));

/** Values of a quantity along the motion. @param {PackedCourse} packed */
export const courseOf = ([unit, steps]) => Float32Array.from(new Int16Array(bytesOf(steps)), (step) => step * unit);

/** Vertices (x, y, z in turn, metres) and indices of a packed mesh; unpacked once. @param {PackedMesh} shape */
export function unpackMesh(shape) {
  const { low, high } = shape;
  shape.points ??= Float32Array.from(new Uint16Array(bytesOf(shape.vertices)), (step, at) => low[at % 3] + ((high[at % 3] - low[at % 3]) * step) / 65535);
  shape.corners ??= new Uint16Array(bytesOf(shape.triangles));
  return { points: shape.points, corners: shape.corners };
}

/** Index of the last sample at or before time t. @param {ArrayLike<number>} times @param {number} t */
export function sampleBefore(times, t) {
  let low = 0, high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] > t) high = middle;
    else low = middle;
  }
  return t >= times[high] ? high : low;
}

/** The interval [k, k + 1] of samples that holds time t, and how far t is through it, from 0 to 1; beyond the ends, the end. @param {ArrayLike<number>} times @param {number} t */
export function intervalAt(times, t) {
  const k = Math.min(sampleBefore(times, t), times.length - 2);
  return { k, weight: Math.min(1, Math.max(0, (t - times[k]) / (times[k + 1] - times[k]))) };
}

/** The value of a sampled curve at time t, interpolated. @param {ArrayLike<number>} times @param {ArrayLike<number>} values @param {number} t */
export function valueAt(times, values, t) {
  const { k, weight } = intervalAt(times, t);
  return values[k] + (values[k + 1] - values[k]) * weight;
}

// Motion of all bodies, turned so that `up` is the scene's z axis.
//
// The integers stand body by body, seven per sample (position, quaternion); a body that never moves has one sample:
//
//     | body 0: x y z w i j k, x y z w i j k, ... | body 1 (still): x y z w i j k | body 2: ...
//       offsets[0]                                  offsets[1]                      offsets[2]
export class Motion {
  /** @param {PackedMotion} packed @param {Vector} up */
  constructor(packed, up) {
    this.times = floatsOf(packed.times);
    this.origin = packed.origin;
    this.scale = packed.scale;
    this.still = packed.still;
    this.upright = turnBetween(up, [0, 0, 1]);
    this.steps = new Int16Array(bytesOf(packed.poses));
    /** @type {number[]} */
    this.offsets = [];
    let offset = 0;
    for (const still of packed.still) {
      this.offsets.push(offset);
      offset += 7 * (still ? 1 : this.times.length);
    }
  }

  get first() { return this.times[0]; }
  get last() { return this.times[this.times.length - 1]; }

  /** Position and quaternion of a body at a sample, in scene coordinates. @param {number} body @param {number} k @returns {Pose} */
  sample(body, k) {
    const at = this.offsets[body] + (this.still[body] ? 0 : 7 * k), s = this.steps;
    const position = add(this.origin, scale([s[at], s[at + 1], s[at + 2]], this.scale));
    /** @type {Quaternion} */
    const turn = [s[at + 3] / STEPS, s[at + 4] / STEPS, s[at + 5] / STEPS, s[at + 6] / STEPS];
    return [rotate(this.upright, position), compose(this.upright, turn)];
  }

  /** Position and quaternion of a body at time t, interpolated. @param {number} body @param {number} t @returns {Pose} */
  pose(body, t) {
    const { k, weight } = intervalAt(this.times, t), [p, q] = this.sample(body, k);
    if (this.still[body]) return [p, q];
    const [p2, q2] = this.sample(body, k + 1);
    return [add(scale(p, 1 - weight), scale(p2, weight)), blend(q, q2, weight)];
  }

  /** @param {number} t */
  matrices(t) {
    return this.still.map((_, body) => placement(...this.pose(body, t)));
  }

  /** Path of a point of a body through all samples. @param {number} body @param {Vector} point */
  path(body, point) {
    const points = [];
    for (let k = 0; k < this.times.length; k++) {
      const [p, q] = this.sample(body, k);
      points.push(add(p, rotate(q, point)));
    }
    return points;
  }
}
