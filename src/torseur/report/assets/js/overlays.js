// What moves in the scene without being a body: balls at points, arrows from a start to an end.
import { bytesOf, sampleBefore } from "./decode.js";
import { add, cross, norm, rotate, scaled, subtract, unit } from "./linear.js";

const MISSING = -32768;
const HEAD = { length: 4.2, width: 2.4 };

// Places of some points by sample, in scene coordinates.
class Places {
  constructor(packed, motion) {
    Object.assign(this, packed, { motion, data: new Int16Array(bytesOf(packed.steps)) });
  }

  sample(point, k) {
    const at = 3 * (k * this.count + point), s = this.data;
    if (s[at] === MISSING) return null;
    return rotate(this.motion.upright, add(this.origin, scaled([s[at], s[at + 1], s[at + 2]], this.scale)));
  }

  // Where a point is at time t, interpolated, or null where it is not there.
  at(point, t) {
    const { times } = this.motion, k = Math.min(sampleBefore(times, t), times.length - 2);
    const a = this.sample(point, k), b = this.sample(point, k + 1);
    if (!a || !b) return a ?? b;
    const weight = Math.min(1, Math.max(0, (t - times[k]) / (times[k + 1] - times[k])));
    return add(scaled(a, 1 - weight), scaled(b, weight));
  }
}

export class Overlay {
  constructor(data, motion) {
    Object.assign(this, { kind: data.kind, label: data.label, names: data.names, radius: data.radius, colour: data.colour });
    const of = (packed) => packed && new Places(packed, motion);
    this.places = of(data.places);
    this.starts = of(data.starts);
    this.ends = of(data.ends);
    this.shown = true;
  }

  // Shapes at time t: balls, or arrows as shaft and head along the way from start to end.
  shapes(t) {
    if (!this.shown) return [];
    return this.names.flatMap((_, k) => (this.kind === "dots" ? this.ball(k, t) : this.arrow(k, t)));
  }

  ball(k, t) {
    const centre = this.places.at(k, t);
    return centre ? [{ part: "ball", matrix: stretched(centre, [0, 0, this.radius], this.radius), from: centre, to: centre, radius: this.radius }] : [];
  }

  arrow(k, t) {
    const start = this.starts.at(k, t), end = this.ends.at(k, t);
    if (!start || !end) return [];
    const way = subtract(end, start), length = norm(way);
    if (length < 1e-6) return [];
    const head = Math.min(HEAD.length * this.radius, 0.6 * length), neck = subtract(end, scaled(way, head / length));
    return [
      { part: "shaft", matrix: stretched(start, subtract(neck, start), this.radius), from: start, to: neck, radius: this.radius },
      { part: "head", matrix: stretched(neck, scaled(way, head / length), HEAD.width * this.radius), from: neck, to: end, radius: HEAD.width * this.radius },
    ];
  }
}

// The matrix that stretches a unit mesh (radius 1 about z, from 0 to 1) along `way` with a radius.
function stretched(origin, way, radius) {
  const z = unit(way), x = unit(cross(Math.abs(z[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], z)), y = cross(z, x);
  const [a, b] = [scaled(x, radius), scaled(y, radius)];
  return new Float32Array([...a, 0, ...b, 0, ...way, 0, ...origin, 1]);
}

// Meshes of which every overlay is made.
export const PARTS = {
  ball: { kind: "sphere", centre: [0, 0, 0], radius: 1, shade: 1 },
  shaft: { kind: "cylinder", start: [0, 0, 0], end: [0, 0, 1], radius: 1, shade: 1 },
  head: { kind: "cone", start: [0, 0, 0], end: [0, 0, 1], radius: 1, shade: 1 },
};
