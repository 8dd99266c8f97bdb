// Triangle meshes of shapes in body coordinates: positions, normals, shade, indices.
import { unpackMesh } from "./decode.js";
import { add, cross, norm, rotate, scaled, subtract, unit } from "./linear.js";

const AROUND = 22;
const CAP = 5;
// Triangles that meet at a smaller angle than this (its cosine) look like one smooth surface.
const SMOOTH = 0.77;

// Surface of revolution about the line from `start` towards `axis`; profile rows are [radius, height, normal out, normal along].
function lathe(profile, start, axis, around = AROUND) {
  const x = unit(cross(axis, Math.abs(axis[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0])), y = cross(axis, x);
  const mesh = { positions: [], normals: [], indices: [] };
  for (const [radius, height, out, along] of profile) {
    for (let k = 0; k <= around; k++) {
      const angle = (2 * Math.PI * k) / around;
      const spoke = add(scaled(x, Math.cos(angle)), scaled(y, Math.sin(angle)));
      mesh.positions.push(...add(start, add(scaled(axis, height), scaled(spoke, radius))));
      mesh.normals.push(...add(scaled(spoke, out), scaled(axis, along)));
    }
  }
  for (let ring = 0; ring < profile.length - 1; ring++) {
    for (let k = 0; k < around; k++) {
      const a = ring * (around + 1) + k, b = a + around + 1;
      mesh.indices.push(a, a + 1, b, a + 1, b + 1, b);
    }
  }
  return mesh;
}

// Profile of a sphere's part between two latitudes, lifted along the axis.
function arc(radius, from, to, steps, lift = 0) {
  return Array.from({ length: steps + 1 }, (_, i) => {
    const angle = from + ((to - from) * i) / steps;
    return [radius * Math.cos(angle), lift + radius * Math.sin(angle), Math.cos(angle), Math.sin(angle)];
  });
}

function axisOf(start, end) {
  const along = subtract(end, start), length = norm(along);
  return [length > 0 ? scaled(along, 1 / length) : [0, 0, 1], length];
}

function capsule({ start, end, radius }) {
  const [axis, length] = axisOf(start, end);
  const profile = [...arc(radius, -Math.PI / 2, 0, CAP), ...arc(radius, 0, Math.PI / 2, CAP, length)];
  return lathe(profile, start, axis);
}

function cylinder({ start, end, radius }) {
  const [axis, length] = axisOf(start, end), edge = Math.min(radius, length) * 0.1, slant = Math.SQRT1_2;
  const profile = [
    [0, 0, 0, -1], [radius - edge, 0, 0, -1], [radius - edge, 0, slant, -slant], [radius, edge, slant, -slant],
    [radius, edge, 1, 0], [radius, length - edge, 1, 0], [radius, length - edge, slant, slant],
    [radius - edge, length, slant, slant], [radius - edge, length, 0, 1], [0, length, 0, 1],
  ];
  return lathe(profile, start, axis);
}

function cone({ start, end, radius }) {
  const [axis, length] = axisOf(start, end), slant = Math.SQRT1_2;
  return lathe([[0, 0, 0, -1], [radius, 0, 0, -1], [radius, 0, slant, slant], [0, length, slant, slant]], start, axis);
}

function sphere({ centre, radius }) {
  return lathe(arc(radius, -Math.PI / 2, Math.PI / 2, 2 * CAP), centre, [0, 0, 1]);
}

function box({ centre, size, turn }) {
  const mesh = { positions: [], normals: [], indices: [] };
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const u = (axis + 1) % 3, v = (axis + 2) % 3, first = mesh.positions.length / 3;
      for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const corner = [0, 0, 0], normal = [0, 0, 0];
        corner[axis] = (side * size[axis]) / 2;
        corner[u] = (a * size[u]) / 2;
        corner[v] = (b * size[v]) / 2;
        normal[axis] = side;
        mesh.positions.push(...add(centre, rotate(turn, corner)));
        mesh.normals.push(...rotate(turn, normal));
      }
      mesh.indices.push(first, first + 1, first + 2, first, first + 2, first + 3);
    }
  }
  return mesh;
}

function line({ points, radius }) {
  return joined(points.slice(1).map((end, k) => lathe(
    [...arc(radius, -Math.PI / 2, 0, 2), ...arc(radius, 0, Math.PI / 2, 2, axisOf(points[k], end)[1])],
    points[k], axisOf(points[k], end)[0], 8)));
}

// A mesh from a file: corners of its own for each triangle, with normals averaged over the neighbours that go on smoothly.
function mesh(shape) {
  const { points, corners } = unpackMesh(shape);
  const faces = faceNormals(points, corners), around = Array.from({ length: points.length / 3 }, () => []);
  corners.forEach((vertex, at) => around[vertex].push(Math.floor(at / 3)));
  const made = { positions: [], normals: [], indices: [], outward: [] };
  corners.forEach((vertex, at) => {
    const own = faces[Math.floor(at / 3)];
    let smooth = [0, 0, 0], whole = [0, 0, 0];
    for (const face of around[vertex]) {
      const other = faces[face], sameWay = own[0] * other[0] + own[1] * other[1] + own[2] * other[2] >= SMOOTH * own[3] * other[3];
      if (sameWay) smooth = add(smooth, other);
      whole = add(whole, other);
    }
    made.positions.push(points[3 * vertex], points[3 * vertex + 1], points[3 * vertex + 2]);
    made.normals.push(...directed(smooth));
    made.outward.push(...directed(whole));
    made.indices.push(at);
  });
  return made;
}

const directed = (v) => scaled(v, 1 / (norm(v) || 1));

// For each triangle its normal, as long as twice its area, and that length.
export function faceNormals(points, corners) {
  const at = (vertex) => [points[3 * vertex], points[3 * vertex + 1], points[3 * vertex + 2]], faces = [];
  for (let k = 0; k < corners.length; k += 3) {
    const a = at(corners[k]), normal = cross(subtract(at(corners[k + 1]), a), subtract(at(corners[k + 2]), a));
    faces.push([...normal, norm(normal)]);
  }
  return faces;
}

const MAKERS = { capsule, cylinder, cone, sphere, box, line, mesh };

function joined(meshes) {
  const whole = { positions: [], normals: [], shades: [], indices: [], outward: [] };
  for (const mesh of meshes) {
    const first = whole.positions.length / 3;
    whole.positions = whole.positions.concat(mesh.positions);
    whole.normals = whole.normals.concat(mesh.normals);
    whole.shades = whole.shades.concat(mesh.shades ?? new Array(mesh.positions.length / 3).fill(1));
    whole.indices = whole.indices.concat(mesh.indices.map((index) => index + first));
    whole.outward = whole.outward.concat(mesh.outward ?? outwardNormals(mesh));
  }
  return whole;
}

// All shapes of a body as one mesh; lines are as thin as `lineRadius`.
export function bodyMesh(shapes, lineRadius) {
  return joined(shapes.map((shape) => {
    const mesh = MAKERS[shape.kind]({ radius: lineRadius, ...shape });
    return { ...mesh, shades: new Array(mesh.positions.length / 3).fill(shape.shade) };
  }));
}

// A few points that enclose a shape, to find what the camera must show.
export function enclosure(shape) {
  const around = (p, r) => [[r, r, r], [-r, -r, -r], [r, -r, r], [-r, r, -r], [r, r, -r], [-r, -r, r]].map((d) => add(p, d));
  if (shape.kind === "mesh") {
    return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [0, 1, 2].map((axis) => (k & (1 << axis) ? shape.high : shape.low)[axis]));
  }
  if (shape.kind === "box") {
    const corners = [];
    for (const x of [-0.5, 0.5]) for (const y of [-0.5, 0.5]) for (const z of [-0.5, 0.5]) {
      corners.push(add(shape.centre, rotate(shape.turn, [x * shape.size[0], y * shape.size[1], z * shape.size[2]])));
    }
    return corners;
  }
  if (shape.kind === "line") return shape.points;
  if (shape.kind === "sphere") return around(shape.centre, shape.radius);
  return [...around(shape.start, shape.radius), ...around(shape.end, shape.radius)];
}

// Directions in which an outline grows: normals averaged over vertices at the same place, so that edges stay closed.
function outwardNormals({ positions, normals }) {
  const sums = new Map(), places = [];
  for (let at = 0; at < positions.length; at += 3) {
    const key = `${Math.round(1e6 * positions[at])},${Math.round(1e6 * positions[at + 1])},${Math.round(1e6 * positions[at + 2])}`;
    const sum = sums.get(key) ?? [0, 0, 0];
    for (let i = 0; i < 3; i++) sum[i] += normals[at + i];
    sums.set(key, sum);
    places.push(sum);
  }
  return places.flatMap(unit);
}
