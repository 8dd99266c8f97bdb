// Triangle meshes of shapes in body coordinates: positions, normals, shade, indices.
/** @import { Ball, Box, Coat, Ellipsoid, PackedMesh, Polyline, Ring as RingShape, Rod, Shape, Tube, Vector } from "../data.js" */
/**
 * Positions and normals, three numbers per vertex, and indices, three per triangle; `outward` are the directions in which an
 * outline grows.
 * @typedef {{ positions: number[], normals: number[], indices: number[], coats?: number[], outward?: number[] }} Mesh
 */
/** A row of a profile: radius, height, and the normal's parts away from and along the axis. @typedef {[number, number, number, number]} Ring */
import { unpackMesh } from "../numbers/decode.js";
import { add, cross, dot, norm, rotate, scale, subtract, unit } from "../numbers/linear.js";

const AROUND = 36;
const CAP = 8;
// Triangles that meet at a smaller angle than this (its cosine) look like one smooth surface.
const SMOOTH = 0.77;

/** Surface of revolution about the line from `start` towards `axis`. @param {Ring[]} profile @param {Vector} start @param {Vector} axis @param {number} [around] */
function lathe(profile, start, axis, around = AROUND) {
  const x = unit(cross(axis, Math.abs(axis[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0])), y = cross(axis, x);
  /** @type {Mesh} */
  const mesh = { positions: [], normals: [], indices: [] };
  for (const [radius, height, out, along] of profile) {
    for (let k = 0; k <= around; k++) {
      const angle = (2 * Math.PI * k) / around;
      const spoke = add(scale(x, Math.cos(angle)), scale(y, Math.sin(angle)));
      mesh.positions.push(...add(start, add(scale(axis, height), scale(spoke, radius))));
      mesh.normals.push(...add(scale(spoke, out), scale(axis, along)));
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

/** Profile of a sphere's part between two latitudes, lifted along the axis. @param {number} radius @param {number} from @param {number} to @param {number} steps @param {number} [lift] @returns {Ring[]} */
function arc(radius, from, to, steps, lift = 0) {
  return Array.from({ length: steps + 1 }, (_, i) => {
    const angle = from + ((to - from) * i) / steps;
    return [radius * Math.cos(angle), lift + radius * Math.sin(angle), Math.cos(angle), Math.sin(angle)];
  });
}

/** Direction and length of the line between two points. @param {Vector} start @param {Vector} end @returns {[Vector, number]} */
function axisOf(start, end) {
  const along = subtract(end, start), length = norm(along);
  return [length > 0 ? scale(along, 1 / length) : [0, 0, 1], length];
}

/** @param {Rod} rod */
function capsule({ start, end, radius }) {
  const [axis, length] = axisOf(start, end);
  const profile = [...arc(radius, -Math.PI / 2, 0, CAP), ...arc(radius, 0, Math.PI / 2, CAP, length)];
  return lathe(profile, start, axis);
}

// The rims are broken by a tenth of the radius, so that light catches them.
/** @param {Rod} rod */
function cylinder({ start, end, radius }) {
  const [axis, length] = axisOf(start, end), edge = Math.min(radius, length) * 0.1, slant = Math.SQRT1_2;
  /** @type {Ring[]} */
  const profile = [
    [0, 0, 0, -1], [radius - edge, 0, 0, -1], [radius - edge, 0, slant, -slant], [radius, edge, slant, -slant],
    [radius, edge, 1, 0], [radius, length - edge, 1, 0], [radius, length - edge, slant, slant],
    [radius - edge, length, slant, slant], [radius - edge, length, 0, 1], [0, length, 0, 1],
  ];
  return lathe(profile, start, axis);
}

/** @param {Rod} rod */
function cone({ start, end, radius }) {
  const [axis, length] = axisOf(start, end), slant = Math.SQRT1_2;
  return lathe([[0, 0, 0, -1], [radius, 0, 0, -1], [radius, 0, slant, slant], [0, length, slant, slant]], start, axis);
}

/** @param {Ball} ball */
function sphere({ centre, radius }) {
  return lathe(arc(radius, -Math.PI / 2, Math.PI / 2, 2 * CAP), centre, [0, 0, 1]);
}

/** @param {Ellipsoid} ellipsoid */
function ellipsoid({ centre, size, turn }) {
  const ball = lathe(arc(1, -Math.PI / 2, Math.PI / 2, 18), [0, 0, 0], [0, 0, 1], 36);
  /** @type {Mesh} */
  const mesh = { positions: [], normals: [], indices: ball.indices };
  for (let at = 0; at < ball.positions.length; at += 3) {
    const [x, y, z] = ball.positions.slice(at, at + 3);
    mesh.positions.push(...add(centre, rotate(turn, [x * size[0], y * size[1], z * size[2]])));
    // The gradient of (x/a)² + (y/b)² + (z/c)² is normal to it.
    mesh.normals.push(...rotate(turn, unit([x / size[0], y / size[1], z / size[2]])));
  }
  return mesh;
}

/** @param {Tube} tube */
function tube({ start, end, radius, inner }) {
  const [axis, length] = axisOf(start, end);
  return lathe([
    [inner, 0, -1, 0], [inner, length, -1, 0], [inner, length, 0, 1], [radius, length, 0, 1], [radius, length, 1, 0], [radius, 0, 1, 0],
    [radius, 0, 0, -1], [inner, 0, 0, -1],
  ], start, axis);
}

/** A torus: the profile is the circle of its wire. @param {RingShape} ring */
function ring({ centre, axis, radius, wire }) {
  const steps = 12, profile = Array.from({ length: steps + 1 }, (_, k) => {
    const angle = (2 * Math.PI * k) / steps, out = Math.cos(angle), along = Math.sin(angle);
    return /** @type {Ring} */ ([radius + wire * out, wire * along, out, along]);
  });
  return lathe(profile, centre, unit(axis), 48);
}

/** A round wire along a line; its rings are carried from point to point without twist. @param {Vector[]} points @param {number} radius @param {number} [around] @returns {Mesh} */
export function wire(points, radius, around = 7) {
  const line = points.filter((p, k) => k === 0 || norm(subtract(p, points[k - 1])) > 1e-12);
  /** @type {Mesh} */
  const mesh = { positions: [], normals: [], indices: [] };
  if (line.length < 2) return mesh;
  let across = /** @type {Vector} */ ([0, 0, 0]);
  line.forEach((p, k) => {
    const along = unit(subtract(line[Math.min(k + 1, line.length - 1)], line[Math.max(k - 1, 0)]));
    const kept = subtract(across, scale(along, dot(across, along)));
    across = norm(kept) > 1e-6 ? unit(kept) : unit(cross(along, Math.abs(along[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]));
    const beside = cross(along, across);
    for (let j = 0; j <= around; j++) {
      const angle = (2 * Math.PI * j) / around, out = add(scale(across, Math.cos(angle)), scale(beside, Math.sin(angle)));
      mesh.positions.push(...add(p, scale(out, radius)));
      mesh.normals.push(...out);
    }
  });
  for (let k = 0; k < line.length - 1; k++) {
    for (let j = 0; j < around; j++) {
      const a = k * (around + 1) + j, b = a + around + 1;
      mesh.indices.push(a, a + 1, b, a + 1, b + 1, b);
    }
  }
  return mesh;
}

/** @param {Box} box */
function box({ centre, size, turn }) {
  /** @type {Mesh} */
  const mesh = { positions: [], normals: [], indices: [] };
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const u = (axis + 1) % 3, v = (axis + 2) % 3, first = mesh.positions.length / 3;
      for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        /** @type {Vector} */
        const corner = [0, 0, 0];
        /** @type {Vector} */
        const normal = [0, 0, 0];
        corner[axis] = (side * size[axis]) / 2;
        corner[u] = (a * size[u]) / 2;
        corner[v] = (b * size[v]) / 2;
        normal[axis] = side;
        mesh.positions.push(...add(centre, rotate(turn, corner)));
        mesh.normals.push(...rotate(turn, normal));
      }
      // Anticlockwise seen from outside: about the axis on its upper side, the other way round on the lower one.
      const [second, fourth] = side > 0 ? [first + 1, first + 3] : [first + 3, first + 1];
      mesh.indices.push(first, second, first + 2, first, first + 2, fourth);
    }
  }
  return mesh;
}

/** @param {Polyline & { radius: number }} polyline @returns {Mesh} */
function line({ points, radius }) {
  if (points.length > 4) return wire(points, radius);
  return joinMeshes(points.slice(1).map((end, k) => lathe(
    [...arc(radius, -Math.PI / 2, 0, 2), ...arc(radius, 0, Math.PI / 2, 2, axisOf(points[k], end)[1])],
    points[k], axisOf(points[k], end)[0], 8)));
}

/** A mesh from a file: corners of its own for each triangle, with normals averaged over the neighbours that go on smoothly. @param {PackedMesh} shape */
function mesh(shape) {
  const { points, corners } = unpackMesh(shape), faces = faceNormals(points, corners);
  /** @type {number[][]} */
  const around = Array.from({ length: points.length / 3 }, () => []);
  corners.forEach((vertex, at) => around[vertex].push(Math.floor(at / 3)));
  /** @type {number[]} */
  const positions = [], /** @type {number[]} */ normals = [], /** @type {number[]} */ outward = [];
  corners.forEach((vertex, at) => {
    const own = faces[Math.floor(at / 3)];
    let smooth = own.normal, whole = own.normal;
    for (const face of around[vertex]) {
      const other = faces[face];
      if (other === own) continue;
      if (dot(own.normal, other.normal) >= SMOOTH * own.length * other.length) smooth = add(smooth, other.normal);
      whole = add(whole, other.normal);
    }
    positions.push(...vertexOf(points, vertex));
    normals.push(...unit(smooth));
    outward.push(...unit(whole));
  });
  return { positions, normals, indices: [...corners.keys()], outward };
}

/** @param {Float32Array} points @param {number} vertex @returns {Vector} */
export const vertexOf = (points, vertex) => [points[3 * vertex], points[3 * vertex + 1], points[3 * vertex + 2]];

/** For each triangle its normal, as long as twice its area, and that length. @param {Float32Array} points @param {Uint16Array} corners */
export function faceNormals(points, corners) {
  const faces = [];
  for (let k = 0; k < corners.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map((corner) => vertexOf(points, corners[k + corner])), normal = cross(subtract(b, a), subtract(c, a));
    faces.push({ normal, length: norm(normal) });
  }
  return faces;
}

/** @param {Shape} shape @param {number} lineRadius @returns {Mesh} */
function meshOf(shape, lineRadius) {
  switch (shape.kind) {
    case "capsule": return capsule(shape);
    case "cylinder": return cylinder(shape);
    case "cone": return cone(shape);
    case "sphere": return sphere(shape);
    case "box": return box(shape);
    case "ellipsoid": return ellipsoid(shape);
    case "tube": return tube(shape);
    case "ring": return ring(shape);
    case "line": return line({ ...shape, radius: shape.radius || lineRadius });
    case "mesh": return mesh(shape);
    case "label": return { positions: [], normals: [], indices: [] }; // letters are drawn by the page
  }
}

/** What a shape is coloured with: its own paint, or a shade of the body's colour. @param {Coat} coat @returns {[number, number, number, number]} */
export const coatOf = ({ shade, paint }) => (paint ? [paint[0], paint[1], paint[2], 1] : [shade, shade, shade, 0]);

/** @param {Mesh[]} meshes @returns {Required<Mesh>} */
export function joinMeshes(meshes) {
  /** @type {Required<Mesh>} */
  const whole = { positions: [], normals: [], coats: [], indices: [], outward: [] };
  for (const mesh of meshes) {
    const first = whole.positions.length / 3;
    whole.positions = whole.positions.concat(mesh.positions);
    whole.normals = whole.normals.concat(mesh.normals);
    whole.coats = whole.coats.concat(mesh.coats ?? coats(mesh, [1, 1, 1, 0]));
    whole.indices = whole.indices.concat(mesh.indices.map((index) => index + first));
    whole.outward = whole.outward.concat(mesh.outward ?? outwardNormals(mesh));
  }
  return whole;
}

/** All shapes of a body as one mesh; lines are as thin as `lineRadius`. @param {Shape[]} shapes @param {number} lineRadius */
export function bodyMesh(shapes, lineRadius) {
  return joinMeshes(shapes.map((shape) => {
    const mesh = meshOf(shape, lineRadius);
    return { ...mesh, coats: coats(mesh, coatOf(shape)) };
  }));
}

/** One coat for every vertex. @param {Mesh} mesh @param {[number, number, number, number]} coat */
export const coats = (mesh, coat) => new Array(mesh.positions.length / 3).fill(coat).flat();

/** The eight corners of a box, x slowest, z fastest. @param {Box} box */
export function cornersOf({ centre, size, turn }) {
  const corners = [];
  for (const x of [-0.5, 0.5]) for (const y of [-0.5, 0.5]) for (const z of [-0.5, 0.5]) {
    corners.push(add(centre, rotate(turn, [x * size[0], y * size[1], z * size[2]])));
  }
  return corners;
}

/** The box, along the axes of the body, around a mesh. @param {PackedMesh} mesh @returns {Box} */
export const boxAround = ({ low, high, shade }) => ({ kind: "box", centre: scale(add(low, high), 0.5), size: subtract(high, low), turn: [1, 0, 0, 0], shade });

/** @type {Vector[]} */
const CUBE = [[1, 1, 1], [-1, -1, -1], [1, -1, 1], [-1, 1, -1], [1, 1, -1], [-1, -1, 1]];

/** A few points that enclose a shape, to find what the camera must show. @param {Shape} shape @returns {Vector[]} */
export function enclosure(shape) {
  /** Six corners of a cube are enough for a ball. @param {Vector} p @param {number} r */
  const around = (p, r) => CUBE.map((corner) => add(p, scale(corner, r)));
  if (shape.kind === "mesh") return cornersOf(boxAround(shape));
  if (shape.kind === "box") return cornersOf(shape);
  if (shape.kind === "line") return shape.points;
  if (shape.kind === "label") return [shape.centre];
  if (shape.kind === "ellipsoid") return cornersOf({ ...shape, kind: "box", size: scale(shape.size, 1.6) });
  if (shape.kind === "ring") return ringBox(shape);
  if (shape.kind === "sphere") return around(shape.centre, shape.radius);
  return [...around(shape.start, shape.radius), ...around(shape.end, shape.radius)];
}

/** Points of a ring, far enough apart to enclose it. @param {RingShape} ring @returns {Vector[]} */
function ringBox({ centre, axis, radius, wire: thick }) {
  const z = unit(axis), x = unit(cross(Math.abs(z[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], z)), y = cross(z, x), far = radius + thick;
  return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => add(centre, add(scale(x, far * Math.cos((k * Math.PI) / 4)), scale(y, far * Math.sin((k * Math.PI) / 4)))));
}

/** Directions in which an outline grows: normals averaged over vertices at the same place, so that edges stay closed. @param {Mesh} mesh */
function outwardNormals({ positions, normals }) {
  /** @type {Map<string, Vector>} */
  const sums = new Map(), /** @type {Vector[]} */ places = [];
  for (let at = 0; at < positions.length; at += 3) {
    const key = `${Math.round(1e6 * positions[at])},${Math.round(1e6 * positions[at + 1])},${Math.round(1e6 * positions[at + 2])}`;
    const sum = sums.get(key) ?? [0, 0, 0];
    for (let i = 0; i < 3; i++) sum[i] += normals[at + i];
    sums.set(key, sum);
    places.push(sum);
  }
  return places.flatMap(unit);
}
