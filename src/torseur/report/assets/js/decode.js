// Packed numbers of the page back to arrays, and the poses of all bodies at any time.
import { add, blend, compose, placement, rotate, scaled, turnBetween } from "./linear.js";

const STEPS = 32767;

// Numbers arrive packed as text, or as bytes.
export function bytesOf(packed) {
  if (typeof packed !== "string") return packed;
  return Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)).buffer;
}

export const floatsOf = (packed) => new Float32Array(bytesOf(packed));

// Vertices (x, y, z in turn, metres) and indices of a packed mesh; unpacked once.
export function unpackMesh(shape) {
  if (shape.points) return shape;
  const steps = new Uint16Array(bytesOf(shape.vertices)), { low, high } = shape;
  shape.points = Float32Array.from(steps, (step, at) => low[at % 3] + ((high[at % 3] - low[at % 3]) * step) / 65535);
  shape.corners = new Uint16Array(bytesOf(shape.triangles));
  return shape;
}

// Index of the last sample at or before time t.
export function sampleBefore(times, t) {
  let low = 0, high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] > t) high = middle;
    else low = middle;
  }
  return t >= times[high] ? high : low;
}

// The value of a sampled curve at time t, interpolated.
export function valueAt(times, values, t) {
  const k = Math.min(sampleBefore(times, t), times.length - 2);
  const weight = Math.min(1, Math.max(0, (t - times[k]) / (times[k + 1] - times[k])));
  return values[k] + (values[k + 1] - values[k]) * weight;
}

// Motion of all bodies, turned so that `up` is the scene's z axis.
export class Motion {
  constructor(packed, up) {
    this.times = floatsOf(packed.times);
    this.origin = packed.origin;
    this.scale = packed.scale;
    this.still = packed.still;
    this.upright = turnBetween(up, [0, 0, 1]);
    this.steps = new Int16Array(bytesOf(packed.poses));
    this.offsets = [];
    let offset = 0;
    for (const still of packed.still) {
      this.offsets.push(offset);
      offset += 7 * (still ? 1 : this.times.length);
    }
  }

  get first() { return this.times[0]; }
  get last() { return this.times[this.times.length - 1]; }

  // Position and quaternion of a body at a sample, in scene coordinates.
  sample(body, k) {
    const at = this.offsets[body] + (this.still[body] ? 0 : 7 * k), s = this.steps;
    const position = add(this.origin, scaled([s[at], s[at + 1], s[at + 2]], this.scale));
    const turn = [s[at + 3] / STEPS, s[at + 4] / STEPS, s[at + 5] / STEPS, s[at + 6] / STEPS];
    return [rotate(this.upright, position), compose(this.upright, turn)];
  }

  // Position and quaternion of a body at time t, interpolated.
  pose(body, t) {
    const k = Math.min(sampleBefore(this.times, t), this.times.length - 2);
    const [p, q] = this.sample(body, k);
    if (this.still[body]) return [p, q];
    const [p2, q2] = this.sample(body, k + 1);
    const weight = Math.min(1, Math.max(0, (t - this.times[k]) / (this.times[k + 1] - this.times[k])));
    return [add(scaled(p, 1 - weight), scaled(p2, weight)), blend(q, q2, weight)];
  }

  matrices(t) {
    return this.still.map((_, body) => placement(...this.pose(body, t)));
  }

  // Path of a point of a body through all samples.
  path(body, point) {
    const points = [];
    for (let k = 0; k < this.times.length; k++) {
      const [p, q] = this.sample(body, k);
      points.push(add(p, rotate(q, point)));
    }
    return points;
  }
}
