import assert from "node:assert/strict";
import { test } from "node:test";
import { near, numbers, report } from "./modules.js";

const { add, blend, compose, cross, dot, inverse, lookAt, multiply, norm, orthographic, perspective, placement, project, rotate, scale, turnBetween, unit } = await report("numbers/linear");

const drawn = numbers();
const vector = () => [0, 1, 2].map(() => drawn.next().value);
const about = (axis, angle) => [Math.cos(angle / 2), ...scale(unit(axis), Math.sin(angle / 2))];

// v cos + (n × v) sin + n (n · v)(1 - cos), Rodrigues' formula.
function turned(axis, angle, v) {
  const n = unit(axis), c = Math.cos(angle), s = Math.sin(angle);
  return add(add(scale(v, c), scale(cross(n, v), s)), scale(n, dot(n, v) * (1 - c)));
}

test("a turn is that of Rodrigues' formula", () => {
  for (let k = 0; k < 20; k++) {
    const axis = vector(), v = vector(), angle = 3 * drawn.next().value;
    near(rotate(about(axis, angle), v), turned(axis, angle, v));
    near(rotate(inverse(about(axis, angle)), turned(axis, angle, v)), v);
  }
});

test("composed turns act from right to left", () => {
  const [p, q, v] = [about(vector(), 0.7), about(vector(), -1.9), vector()];
  near(rotate(compose(p, q), v), rotate(p, rotate(q, v)));
});

test("the turn between two directions takes one to the other, by the angle between them", () => {
  const [a, b] = [vector(), vector()], q = turnBetween(a, b);
  near(rotate(q, unit(a)), unit(b));
  near(2 * Math.acos(q[0]), Math.acos(dot(unit(a), unit(b))));
  near(rotate(turnBetween([0, 0, -1], [0, 0, 1]), [0, 0, -1]), [0, 0, 1]);
});

test("half way between two turns is half the angle, the short way round", () => {
  const axis = vector(), [p, q] = [about(axis, 0.2), about(axis, 1.4)];
  near(blend(p, q, 0.5), about(axis, 0.8));
  near(blend(p, q.map((x) => -x), 0.5), about(axis, 0.8));
  near(blend(p, q, 0), p);
  near(blend(p, q, 1), q);
});

test("zero has no direction, and stays zero", () => near(unit([0, 0, 0]), [0, 0, 0]));

test("a placement turns, then moves", () => {
  const [p, v] = [vector(), vector()], q = about(vector(), 1.1);
  near(project(placement(p, q), v), [...add(p, rotate(q, v)), 1], 1e-6);
});

test("a product of matrices acts as one after the other", () => {
  const one = placement(vector(), about(vector(), 0.4)), other = placement(vector(), about(vector(), 2)), v = vector();
  near(project(multiply(one, other), v), project(one, project(other, v).slice(0, 3)), 1e-5);
});

test("a lens sees its angle from edge to edge, and depths from -1 to 1", () => {
  const lens = perspective(0.6, 1.5, 2, 30), high = Math.tan(0.3);
  const seen = (point) => { const [x, y, z, w] = project(lens, point); return [x / w, y / w, z / w]; };
  near(seen([0, high * 2, -2]), [0, 1, -1], 1e-6);
  near(seen([1.5 * high * 30, 0, -30]), [1, 0, 1], 1e-5);
  near(project(orthographic(4, 1, 9), [4, -4, -1]).slice(0, 3), [1, -1, -1], 1e-6);
});

test("a camera has its target straight ahead and upward upward", () => {
  const eye = [3, -4, 2], target = [1, 1, 1], m = lookAt(eye, target, [0, 0, 1]);
  near(project(m, eye).slice(0, 3), [0, 0, 0], 1e-5);
  near(project(m, target).slice(0, 3), [0, 0, -norm([2, -5, 1])], 1e-5);
  assert.ok(project(m, add(target, [0, 0, 1]))[1] > 0);
});
