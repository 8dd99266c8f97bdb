import assert from "node:assert/strict";
import { test } from "node:test";
import { near, report } from "./modules.js";

const { nearestBody } = await report("scene/pick");

const STILL = [[0, 0, 0], [1, 0, 0, 0]];
const body = (...shapes) => ({ shapes });
const ball = (centre, radius) => ({ kind: "sphere", centre, radius });
const picked = (origin, ray, bodies, poses = bodies.map(() => STILL)) => nearestBody(origin, ray, bodies, poses, 0.05);

test("the nearer of two bodies on the ray is picked, whatever their order", () => {
  const far = body(ball([10, 0, 0], 1)), close = body(ball([4, 0, 0], 1));
  assert.equal(picked([0, 0, 0], [1, 0, 0], [far, close]), 1);
  assert.equal(picked([0, 0, 0], [1, 0, 0], [close, far]), 0);
  assert.equal(picked([0, 0, 0], [0, 1, 0], [close, far]), null);
});

test("what is nearer is told by surfaces: a thick rod behind the middle of a thin one is before it", () => {
  const rod = (x, radius) => body({ kind: "capsule", start: [x, 0, -1], end: [x, 0, 1], radius });
  assert.equal(picked([0, 0, 0], [1, 0, 0], [rod(5, 0.1), rod(5.5, 1)]), 1);
  assert.equal(picked([0, 0, 0], [1, 0, 0], [body(ball([5, 0, 0], 0.1)), rod(6.2, 1)]), 0);
});

test("a ball is hit within its radius and missed beyond it", () => {
  for (const [aside, hit] of [[0.99, 0], [1.01, null]]) assert.equal(picked([0, aside, 0], [1, 0, 0], [body(ball([5, 0, 0], 1))]), hit);
});

test("rods, boxes and lines are hit where they are", () => {
  const rod = { kind: "capsule", start: [5, 0, 0], end: [5, 0, 3], radius: 0.2 };
  const box = { kind: "box", centre: [5, 0, 0], size: [2, 2, 2], turn: [Math.cos(Math.PI / 8), 0, 0, Math.sin(Math.PI / 8)] };
  const line = { kind: "line", points: [[5, -1, 0], [5, 1, 0], [5, 1, 2]] };
  const cases = [[rod, [0, 0, 2.9], 0], [rod, [0, 0, 3.3], null], [rod, [0, 0.3, 1], null],
    [box, [0, 1.3, 0], 0], [box, [0, 1.5, 0], null], [line, [0, 1.04, 1], 0], [line, [0, 0, 1], null]]; // the turned box reaches to √2
  for (const [shape, origin, hit] of cases) assert.equal(picked(origin, [1, 0, 0], [body(shape)]), hit, `${shape.kind} from ${origin}`);
});

test("a triangle of a mesh is hit inside its edges", () => {
  const vertices = Uint16Array.of(0, 0, 0, 65535, 0, 0, 0, 65535, 0).buffer, triangles = Uint16Array.of(0, 1, 2).buffer;
  const mesh = { kind: "mesh", low: [0, 0, 0], high: [1, 1, 0], vertices, triangles };
  for (const [x, y, hit] of [[0.2, 0.2, 0], [0.49, 0.49, 0], [0.51, 0.51, null], [-0.1, 0.2, null]]) {
    assert.equal(picked([x, y, 4], [0, 0, -1], [body(mesh)]), hit, `${x}, ${y}`);
  }
});

test("shapes go with the pose of their body", () => {
  const turn = [Math.SQRT1_2, 0, 0, Math.SQRT1_2]; // a right angle about z: x becomes y
  const pose = [[0, 5, 0], turn], rod = { kind: "cylinder", start: [0, 0, 0], end: [3, 0, 0], radius: 0.1 };
  assert.equal(picked([-4, 7.5, 0], [1, 0, 0], [body(rod)], [pose]), 0);
  assert.equal(picked([-4, 4, 0], [1, 0, 0], [body(rod)], [pose]), null);
  near(pose[0], [0, 5, 0]);
});
