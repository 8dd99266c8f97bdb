import assert from "node:assert/strict";
import { test } from "node:test";
import { near, report } from "./modules.js";

const { bodyMesh, cornersOf, enclosure } = await report("scene/meshes");
const { cross, dot, norm, subtract } = await report("numbers/linear");

const TURN = [Math.cos(0.3), 0, Math.sin(0.3), 0];
const RODS = { start: [0, 1, 0], end: [2, 1, 1], radius: 0.3, shade: 1 }, LENGTH = Math.sqrt(5);
const at = (list, k) => list.slice(3 * k, 3 * k + 3);

// Divergence theorem: the sum of signed volumes of tetrahedra over all triangles, positive where they face outward.
function volume({ positions, indices }) {
  let sum = 0;
  for (let k = 0; k < indices.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map((j) => at(positions, indices[k + j]));
    sum += dot(a, cross(b, c)) / 6;
  }
  return sum;
}

// A prism with 36 sides has this share of the cross-section of its circle.
const SHARE = (36 * Math.sin((2 * Math.PI) / 36)) / (2 * Math.PI);

test("a box has its volume exactly", () => {
  near(volume(bodyMesh([{ kind: "box", centre: [1, 2, 3], size: [2, 3, 5], turn: TURN, shade: 1 }], 0)), 30, 1e-9);
});

test("round shapes have the volume of what they are cut from, but for their sides", () => {
  const { radius } = RODS, section = Math.PI * radius ** 2, ball = (4 / 3) * Math.PI * radius ** 3;
  near(volume(bodyMesh([{ kind: "cone", ...RODS }], 0)), (SHARE * section * LENGTH) / 3, 1e-9);
  const capsule = volume(bodyMesh([{ kind: "capsule", ...RODS }], 0));
  assert.ok(capsule > 0.95 * (section * LENGTH + ball) && capsule < section * LENGTH + ball, `${capsule}`);
  const cylinder = volume(bodyMesh([{ kind: "cylinder", ...RODS }], 0)); // its rims are broken
  assert.ok(cylinder > 0.97 * SHARE * section * LENGTH && cylinder < SHARE * section * LENGTH, `${cylinder}`);
});

test("the points of a ball lie on it, and its normals point away from its centre", () => {
  const { positions, normals } = bodyMesh([{ kind: "sphere", centre: [1, -1, 2], radius: 0.5, shade: 1 }], 0);
  for (let k = 0; k < positions.length / 3; k++) {
    const way = subtract(at(positions, k), [1, -1, 2]);
    near(norm(way), 0.5);
    near(at(normals, k), way.map((x) => x / 0.5));
  }
});

test("every shape of a body keeps its shade, and indices go on where the last shape ended", () => {
  const shapes = [0.4, 0.9].map((shade) => ({ kind: "line", points: [[0, 0, 0], [1, 0, 0], [1, 1, 0]], shade }));
  const { positions, coats, indices } = bodyMesh(shapes, 0.01), count = positions.length / 3;
  assert.deepEqual([...new Set(coats.slice(0, 2 * count))], [0.4, 0]);
  assert.deepEqual([...new Set(coats.slice(2 * count))], [0.9, 0]);
  assert.equal(Math.max(...indices), count - 1);
});

test("a cube from a file has flat faces and an outline that grows from its corners", () => {
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((k) => [k >> 2, (k >> 1) & 1, k & 1].map((bit) => bit * 65535));
  const faces = [0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3];
  const cube = { kind: "mesh", low: [-1, -1, -1], high: [1, 1, 1], vertices: Uint16Array.from(corners).buffer, triangles: Uint16Array.from(faces).buffer, shade: 1 };
  const mesh = bodyMesh([cube], 0);
  near(volume(mesh), 8, 1e-9);
  for (let k = 0; k < mesh.positions.length / 3; k++) {
    near(Math.max(...at(mesh.normals, k).map(Math.abs)), 1); // along one axis
    assert.ok(at(mesh.outward, k).every((x, axis) => Math.sign(x) === Math.sign(mesh.positions[3 * k + axis])));
  }
});

test("a shape is inside the box around the points that enclose it", () => {
  const shapes = [
    { kind: "capsule", ...RODS }, { kind: "sphere", centre: [1, 2, 3], radius: 2, shade: 1 },
    { kind: "box", centre: [0, 0, 1], size: [1, 2, 3], turn: TURN, shade: 1 },
  ];
  for (const shape of shapes) {
    const points = enclosure(shape), { positions } = bodyMesh([shape], 0);
    for (const axis of [0, 1, 2]) {
      const own = positions.filter((_, k) => k % 3 === axis), around = points.map((point) => point[axis]);
      assert.ok(Math.min(...own) >= Math.min(...around) - 1e-9 && Math.max(...own) <= Math.max(...around) + 1e-9, shape.kind);
    }
  }
});

test("the corners of a box go round in binary order", () => {
  near(cornersOf({ centre: [0, 0, 0], size: [2, 2, 2], turn: [1, 0, 0, 0] })[5], [1, -1, 1]);
});
