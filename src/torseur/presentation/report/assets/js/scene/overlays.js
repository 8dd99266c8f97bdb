// What moves in the scene without being a body: balls at points, arrows from a start to an end.
/** @import { OverlayData, PackedPlaces, Rod, Shape, Vector } from "../data.js" */
/** @import { Motion } from "../numbers/decode.js" */
/** One piece of an overlay: a unit mesh, the matrix that places it, and the line and radius it covers. @typedef {{ part: string, matrix: Float32Array, from: Vector, to: Vector, radius: number }} Piece */
import { bytesOf, intervalAt } from "../numbers/decode.js";
import { add, cross, norm, rotate, scale, subtract, unit } from "../numbers/linear.js";

const MISSING = -32768;
const HEAD = { length: 4.2, width: 2.4 };

// Places of some points by sample, in scene coordinates.
class Places {
  /** @param {PackedPlaces} packed @param {Motion} motion */
  constructor(packed, motion) {
    this.packed = packed;
    this.motion = motion;
    this.steps = new Int16Array(bytesOf(packed.steps));
  }

  /** @param {number} point @param {number} k */
  sample(point, k) {
    const at = 3 * (k * this.packed.count + point), s = this.steps;
    if (s[at] === MISSING) return null;
    return rotate(this.motion.upright, add(this.packed.origin, scale([s[at], s[at + 1], s[at + 2]], this.packed.scale)));
  }

  /** Where a point is at time t, interpolated, or null where it is not there. @param {number} point @param {number} t */
  at(point, t) {
    const { k, weight } = intervalAt(this.motion.times, t), a = this.sample(point, k), b = this.sample(point, k + 1);
    if (!a || !b) return a ?? b;
    return add(scale(a, 1 - weight), scale(b, weight));
  }
}

export class Overlay {
  /** @param {OverlayData} data @param {Motion} motion */
  constructor(data, motion) {
    this.kind = data.kind;
    this.names = data.names;
    this.radius = data.radius;
    this.colour = data.colour;
    /** @param {PackedPlaces} [packed] */
    const of = (packed) => packed && new Places(packed, motion);
    this.places = of(data.places);
    this.starts = of(data.starts);
    this.ends = of(data.ends);
    this.shown = true;
  }

  /** Where arrows end at a sample. @param {number} k @returns {Vector[]} */
  tips(k) {
    const { ends } = this;
    return ends ? this.names.map((_, arrow) => ends.sample(arrow, k)).filter((tip) => tip !== null) : [];
  }

  /** Pieces at time t: balls, or arrows as shaft and head along the way from start to end. @param {number} t */
  shapes(t) {
    if (!this.shown) return [];
    return this.names.flatMap((_, k) => (this.kind === "dots" ? this.ball(k, t) : this.arrow(k, t)));
  }

  /** @param {number} k @param {number} t @returns {Piece[]} */
  ball(k, t) {
    const centre = this.places?.at(k, t);
    return centre ? [ball(centre, this.radius)] : [];
  }

  /** @param {number} k @param {number} t @returns {Piece[]} */
  arrow(k, t) {
    const start = this.starts?.at(k, t), end = this.ends?.at(k, t);
    return start && end ? arrow(start, end, this.radius) : [];
  }
}

/** @param {Vector} centre @param {number} radius @returns {Piece} */
export const ball = (centre, radius) => ({ part: "ball", matrix: stretch(centre, [0, 0, radius], radius), from: centre, to: centre, radius });

/** Shaft and head along the way from start to end. @param {Vector} start @param {Vector} end @param {number} radius @returns {Piece[]} */
export function arrow(start, end, radius) {
  const way = subtract(end, start), length = norm(way);
  if (length < 1e-6) return [];
  const head = Math.min(HEAD.length * radius, 0.6 * length), neck = subtract(end, scale(way, head / length));
  return [
    { part: "shaft", matrix: stretch(start, subtract(neck, start), radius), from: start, to: neck, radius },
    { part: "head", matrix: stretch(neck, scale(way, head / length), HEAD.width * radius), from: neck, to: end, radius: HEAD.width * radius },
  ];
}

/** The matrix that stretches a unit mesh (radius 1 about z, from 0 to 1) along `way` with a radius. @param {Vector} origin @param {Vector} way @param {number} radius */
function stretch(origin, way, radius) {
  const z = unit(way), x = unit(cross(Math.abs(z[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], z)), y = cross(z, x);
  const [a, b] = [scale(x, radius), scale(y, radius)];
  return new Float32Array([...a, 0, ...b, 0, ...way, 0, ...origin, 1]);
}

/** Meshes of which every overlay is made. @type {Record<string, Shape>} */
export const PARTS = {
  ball: { kind: "sphere", centre: [0, 0, 0], radius: 1, shade: 1 },
  shaft: { kind: "cylinder", start: [0, 0, 0], end: [0, 0, 1], radius: 1, shade: 1 },
  head: { kind: "cone", start: [0, 0, 0], end: [0, 0, 1], radius: 1, shade: 1 },
};
