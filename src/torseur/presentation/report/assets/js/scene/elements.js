// What stretches between bodies: the lines of springs, dampers, ropes and rods, and their meshes. Python draws the same lines.
/** @import { ElementData, Vector } from "../data.js" */
/** @import { Mesh } from "./meshes.js" */
/** A line and the radius of what runs along it. @typedef {{ points: Vector[], radius: number }} Strand */
import { add, cross, dot, norm, scale, subtract, unit } from "../numbers/linear.js";
import { coatOf, coats, joinMeshes, wire } from "./meshes.js";

const PER_TURN = 12, LEAD = 0.08, ARC = 12, PISTON = 0.45;

/** A helix about the line between two points, straight at its ends. @param {Vector} start @param {Vector} end @param {number} radius @param {number} turns @returns {Vector[]} */
export function coil(start, end, radius, turns) {
  const way = subtract(end, start), length = norm(way);
  if (!length) return [start, end];
  const axis = scale(way, 1 / length), x = sideways(axis), y = cross(axis, x), count = turns * PER_TURN;
  const helix = Array.from({ length: count + 1 }, (_, k) => {
    const step = k / count, angle = 2 * Math.PI * turns * step;
    // The radius grows from nothing over the first half turn and falls back over the last one.
    const grown = radius * Math.min(1, 2 * turns * Math.min(step, 1 - step));
    const middle = add(start, scale(way, LEAD + (1 - 2 * LEAD) * step));
    return add(middle, add(scale(x, grown * Math.cos(angle)), scale(y, grown * Math.sin(angle))));
  });
  return [start, ...helix, end];
}

/** A unit vector across a unit axis. @param {Vector} axis @returns {Vector} */
const sideways = (axis) => unit(cross(Math.abs(axis[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], axis));

/** A taut line through points, wound about those that have a radius. @param {Vector[]} points @param {number[]} radii @returns {Vector[]} */
export function rope(points, radii) {
  const circles = points.map((_, k) => circleAt(points, radii, k));
  return points.flatMap((point, k) => (circles[k].radius ? arcAbout(circles, points, k) : [point]));
}

// The plane of a pulley is that of its neighbours; it lies inside the bend, or outside with a negative radius.
/** @param {Vector[]} points @param {number[]} radii @param {number} k @returns {{ normal: Vector, radius: number }} */
function circleAt(points, radii, k) {
  if (!radii[k] || k === 0 || k === points.length - 1) return { normal: [0, 0, 0], radius: 0 };
  const arriving = subtract(points[k], points[k - 1]), leaving = subtract(points[k + 1], points[k]), normal = cross(arriving, leaving);
  if (norm(normal) <= 1e-9 * norm(arriving) * norm(leaving)) return { normal: [0, 0, 0], radius: 0 };
  return { normal: unit(normal), radius: radii[k] };
}

/** @param {{ normal: Vector, radius: number }[]} circles @param {Vector[]} points @param {number} k @returns {Vector[]} */
function arcAbout(circles, points, k) {
  const { normal, radius } = circles[k], centre = points[k];
  /** @param {number} other @param {1 | -1} side */
  const touch = (other, side) => tangent(centre, radius, points[other], circles[other].radius * Math.sign(dot(circles[other].normal, normal)), normal, side);
  const start = subtract(touch(k - 1, 1), centre), end = subtract(touch(k + 1, -1), centre);
  let turn = Math.atan2(dot(cross(start, end), normal), dot(start, end));
  if (radius > 0 && turn < -1e-9) turn += 2 * Math.PI;
  if (radius < 0 && turn > 1e-9) turn -= 2 * Math.PI;
  const beside = cross(normal, start);
  return Array.from({ length: ARC + 1 }, (_, j) => {
    const angle = (turn * j) / ARC;
    return add(centre, add(scale(start, Math.cos(angle)), scale(beside, Math.sin(angle))));
  });
}

// With signed radii r and s about the normal, the common tangent of centres at distance d is turned out of their line by
// asin((r - s) / d).
/** @param {Vector} centre @param {number} radius @param {Vector} other @param {number} far @param {Vector} normal @param {1 | -1} side @returns {Vector} */
function tangent(centre, radius, other, far, normal, side) {
  const direct = subtract(other, centre), way = subtract(direct, scale(normal, dot(direct, normal))), distance = norm(way);
  if (distance <= 1e-12) return centre;
  const along = scale(way, 1 / distance), cosine = Math.max(-1, Math.min(1, (radius - far) / distance));
  return add(centre, scale(add(scale(along, cosine), scale(cross(normal, along), side * Math.sqrt(1 - cosine * cosine))), radius));
}

/** The lines of an element whose anchors are at these points. @param {ElementData} element @param {Vector[]} ends @returns {Strand[]} */
export function strands({ kind, anchors, radius, wire: thick, turns }, ends) {
  const start = ends[0], end = ends[ends.length - 1], way = subtract(end, start), length = norm(way);
  if (kind === "coil") return [{ points: coil(start, end, radius, turns), radius: thick }];
  if (kind === "rope") return [{ points: rope(ends, anchors.map((anchor) => anchor.radius)), radius: thick }];
  /** @type {Strand} */
  const straight = { points: ends, radius: thick };
  if (kind === "damper" && length) {
    const half = Math.min(3 * radius, 0.3 * length) / length;
    return [straight, { points: [PISTON - half, PISTON + half].map((part) => add(start, scale(way, part))), radius }];
  }
  if (kind === "arrow" && length) {
    const axis = scale(way, 1 / length), neck = subtract(end, scale(axis, Math.min(9 * thick, 0.6 * length))), aside = scale(sideways(axis), 3 * thick);
    return [straight, { points: [add(neck, aside), end, subtract(neck, aside)], radius: thick }];
  }
  return [straight];
}

/** @param {ElementData} element @param {Vector[]} ends @returns {Mesh} */
export function elementMesh(element, ends) {
  const parts = strands(element, ends).map(({ points, radius }) => closedWire(points, radius));
  const mesh = joinMeshes(parts);
  return { ...mesh, coats: coats(mesh, coatOf({ shade: 1, paint: element.paint })) };
}

// A wire whose ends are closed: its first and last ring shrink to a point.
/** @param {Vector[]} points @param {number} radius @returns {Mesh} */
function closedWire(points, radius) {
  const around = radius > 0 && points.length === 2 ? 14 : 7, mesh = wire(points, radius, around), count = mesh.positions.length / 3;
  if (!count) return mesh;
  for (const [end, ring] of /** @type {[Vector, number][]} */ ([[points[0], 0], [points[points.length - 1], count - around - 1]])) {
    const middle = mesh.positions.length / 3, out = unit(subtract(end, ring === 0 ? points[1] : points[points.length - 2]));
    mesh.positions.push(...end);
    mesh.normals.push(...out);
    for (let j = 0; j < around; j++) mesh.indices.push(middle, ring + j, ring + j + 1);
  }
  return mesh;
}
