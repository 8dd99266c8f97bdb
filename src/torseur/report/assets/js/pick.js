// Which body lies under the pointer, by rays against the shapes; works without the graphics card.
import { unpackMesh } from "./decode.js";
import { add, cross, dot, norm, rotate, scaled, subtract, unit } from "./linear.js";

const inverse = ([w, x, y, z]) => [w, -x, -y, -z];

// Distance along the ray to a ball, or infinity.
function toBall(origin, ray, centre, radius) {
  const offset = subtract(origin, centre), half = dot(offset, ray), under = half * half - dot(offset, offset) + radius * radius;
  return under < 0 ? Infinity : -half - Math.sqrt(under);
}

// Distance along the ray to the point of a rod nearest to it, if that is within the radius.
function toRod(origin, ray, start, end, radius) {
  const along = subtract(end, start), offset = subtract(origin, start);
  const a = dot(along, along), b = dot(along, ray), c = dot(offset, along), d = dot(offset, ray);
  const slack = a - b * b;
  const place = Math.min(1, Math.max(0, slack > 1e-12 ? (c - b * d) / slack : 0));
  const point = add(start, scaled(along, place)), distance = dot(subtract(point, origin), ray);
  return norm(subtract(add(origin, scaled(ray, distance)), point)) <= radius ? distance - radius : Infinity;
}

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

// Distance to the first triangle of a mesh (Möller and Trumbore), looked at only where the ray meets the box around it.
function toMesh(origin, ray, shape) {
  const { low, high } = shape, box = { centre: scaled(add(low, high), 0.5), size: subtract(high, low), turn: [1, 0, 0, 0] };
  if (toBox(origin, ray, box) === Infinity) return Infinity;
  const { points, corners } = unpackMesh(shape), at = (k) => [0, 1, 2].map((axis) => points[3 * corners[k] + axis]);
  let best = Infinity;
  for (let k = 0; k < corners.length; k += 3) {
    const a = at(k), u = subtract(at(k + 1), a), v = subtract(at(k + 2), a), p = cross(ray, v), size = dot(u, p);
    const offset = subtract(origin, a), q = cross(offset, u), first = dot(offset, p) / size, second = dot(ray, q) / size;
    const distance = dot(v, q) / size;
    if (first >= 0 && second >= 0 && first + second <= 1 && distance > 0 && distance < best) best = distance;
  }
  return best;
}

function toShape(origin, ray, shape, lineRadius) {
  if (shape.kind === "mesh") return toMesh(origin, ray, shape);
  if (shape.kind === "sphere") return toBall(origin, ray, shape.centre, shape.radius);
  if (shape.kind === "box") return toBox(origin, ray, shape);
  if (shape.kind !== "line") return toRod(origin, ray, shape.start, shape.end, shape.radius);
  return Math.min(...shape.points.slice(1).map((end, k) => toRod(origin, ray, shape.points[k], end, lineRadius)));
}

// Index of the nearest body along a ray in scene coordinates, or null; poses are [position, quaternion] per body.
export function nearestBody(origin, ray, bodies, poses, lineRadius) {
  let best = Infinity, found = null;
  bodies.forEach((body, index) => {
    const [p, q] = poses[index];
    const from = rotate(inverse(q), subtract(origin, p)), way = unit(rotate(inverse(q), ray));
    for (const shape of body.shapes) {
      const distance = toShape(from, way, shape, lineRadius);
      if (distance < best) [best, found] = [distance, index];
    }
  });
  return found;
}
