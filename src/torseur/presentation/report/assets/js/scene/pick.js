// Which body lies under the pointer, by rays against the shapes; works without the graphics card.
// A ray starts at `origin` and goes along `ray`, of length 1, both in the frame of the shape.
/** @import { Body, Box, Ellipsoid, PackedMesh, Pose, Ring, Shape, Vector } from "../data.js" */
import { unpackMesh } from "../numbers/decode.js";
import { add, cross, dot, inverse, norm, rotate, scale, subtract, unit } from "../numbers/linear.js";
import { boxAround, vertexOf } from "./meshes.js";

/** Distance along the ray to a ball, or infinity. @param {Vector} origin @param {Vector} ray @param {Vector} centre @param {number} radius */
function toBall(origin, ray, centre, radius) {
  const offset = subtract(origin, centre), half = dot(offset, ray), under = half * half - dot(offset, offset) + radius * radius;
  return under < 0 ? Infinity : -half - Math.sqrt(under);
}

/** Distance along the ray to the point of a rod nearest to it, if that is within the radius. @param {Vector} origin @param {Vector} ray @param {Vector} start @param {Vector} end @param {number} radius */
function toRod(origin, ray, start, end, radius) {
  const along = subtract(end, start), offset = subtract(origin, start);
  const a = dot(along, along), b = dot(along, ray), c = dot(offset, along), d = dot(offset, ray);
  const slack = a - b * b;
  const place = Math.min(1, Math.max(0, slack > 1e-12 ? (c - b * d) / slack : 0));
  const point = add(start, scale(along, place)), distance = dot(subtract(point, origin), ray);
  return norm(subtract(add(origin, scale(ray, distance)), point)) <= radius ? distance - radius : Infinity;
}

// The ray is inside the box where it is between all three pairs of faces (the slab method).
/** @param {Vector} origin @param {Vector} ray @param {Box} box */
function toBox(origin, ray, { centre, size, turn }) {
  const from = rotate(inverse(turn), subtract(origin, centre)), way = rotate(inverse(turn), ray);
  let near = -Infinity, far = Infinity;
  for (let k = 0; k < 3; k++) {
    const limits = [(-size[k] / 2 - from[k]) / way[k], (size[k] / 2 - from[k]) / way[k]].sort((a, b) => a - b);
    near = Math.max(near, limits[0]);
    far = Math.min(far, limits[1]);
  }
  return near <= far ? near : Infinity;
}

/** Distance to the first triangle of a mesh (Möller and Trumbore), looked at only where the ray meets the box around it. @param {Vector} origin @param {Vector} ray @param {PackedMesh} shape */
function toMesh(origin, ray, shape) {
  if (toBox(origin, ray, boxAround(shape)) === Infinity) return Infinity;
  const { points, corners } = unpackMesh(shape);
  let best = Infinity;
  for (let k = 0; k < corners.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map((corner) => vertexOf(points, corners[k + corner]));
    const u = subtract(b, a), v = subtract(c, a), p = cross(ray, v), size = dot(u, p);
    const offset = subtract(origin, a), q = cross(offset, u), first = dot(offset, p) / size, second = dot(ray, q) / size;
    const distance = dot(v, q) / size;
    if (first >= 0 && second >= 0 && first + second <= 1 && distance > 0 && distance < best) best = distance;
  }
  return best;
}

/** An ellipsoid is a ball in stretched axes; distances are measured in unstretched ones. @param {Vector} origin @param {Vector} ray @param {Ellipsoid} shape */
function toEllipsoid(origin, ray, { centre, size, turn }) {
  /** @param {Vector} v @returns {Vector} */
  const shrink = (v) => { const [x, y, z] = rotate(inverse(turn), v); return [x / size[0], y / size[1], z / size[2]]; };
  const way = shrink(ray), length = norm(way);
  return toBall(shrink(subtract(origin, centre)), scale(way, 1 / length), [0, 0, 0], 1) / length;
}

/** A ring as rods around. @param {Vector} origin @param {Vector} ray @param {Ring} shape */
function toRing(origin, ray, { centre, axis, radius, wire }) {
  const x = unit(cross(Math.abs(axis[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], axis)), y = cross(axis, x), steps = 24;
  const points = Array.from({ length: steps + 1 }, (_, k) => add(centre, add(scale(x, radius * Math.cos((2 * Math.PI * k) / steps)), scale(y, radius * Math.sin((2 * Math.PI * k) / steps)))));
  return Math.min(...points.slice(1).map((end, k) => toRod(origin, ray, points[k], end, wire)));
}

/** @param {Vector} origin @param {Vector} ray @param {Shape} shape @param {number} lineRadius */
function toShape(origin, ray, shape, lineRadius) {
  if (shape.kind === "mesh") return toMesh(origin, ray, shape);
  if (shape.kind === "sphere") return toBall(origin, ray, shape.centre, shape.radius);
  if (shape.kind === "box") return toBox(origin, ray, shape);
  if (shape.kind === "ellipsoid") return toEllipsoid(origin, ray, shape);
  if (shape.kind === "ring") return toRing(origin, ray, shape);
  if (shape.kind === "label") return Infinity;
  if (shape.kind !== "line") return toRod(origin, ray, shape.start, shape.end, shape.radius);
  return Math.min(...shape.points.slice(1).map((end, k) => toRod(origin, ray, shape.points[k], end, lineRadius)));
}

/** Index of the nearest body along a ray in scene coordinates, or null. @param {Vector} origin @param {Vector} ray @param {Body[]} bodies @param {Pose[]} poses @param {number} lineRadius @returns {number | null} */
export function nearestBody(origin, ray, bodies, poses, lineRadius) {
  let best = Infinity, /** @type {number | null} */ nearest = null;
  bodies.forEach((body, index) => {
    const [p, q] = poses[index];
    const from = rotate(inverse(q), subtract(origin, p)), way = unit(rotate(inverse(q), ray));
    for (const shape of body.shapes) {
      const distance = toShape(from, way, shape, lineRadius);
      if (distance < best) [best, nearest] = [distance, index];
    }
  });
  return nearest;
}
