import assert from "node:assert/strict";
import { test } from "node:test";
import { near, numbers, report } from "./modules.js";

const { Camera, FIELD_OF_VIEW } = await report("scene/camera");
const { add, cross, dot, norm, project, scale, subtract } = await report("numbers/linear");

const MARGIN = 1.16;

test("right, up and out are the axes of a right-handed frame, right is level", () => {
  const camera = new Camera(0.7, -0.4), { right, up, out } = camera.axes();
  for (const axis of [right, up, out]) near(norm(axis), 1);
  near(cross(right, up), out);
  near(right[2], 0);
  near(subtract(camera.eye(), camera.target), scale(out, camera.distance));
});

test("what is fitted is all inside the picture, and the farthest out is a margin from its edge", () => {
  const drawn = numbers(7);
  for (let k = 0; k < 10; k++) {
    const points = Array.from({ length: 30 }, () => [5 * drawn.next().value, drawn.next().value, 9 + 2 * drawn.next().value]);
    const camera = new Camera(3 * drawn.next().value, drawn.next().value);
    camera.aspect = 1 + Math.abs(drawn.next().value);
    camera.fit(points);
    const places = points.map((point) => { const [x, y, , w] = project(camera.matrix(), point); return Math.max(Math.abs(x), Math.abs(y)) / w; });
    near(Math.max(...places), 1 / MARGIN, 1e-4);
  }
});

test("the target follows the pointer: a drag over the height of the picture moves it by what is seen there", () => {
  const camera = new Camera(0.3, 0.5), before = camera.target, { right, up } = camera.axes();
  camera.distance = 4;
  const seen = 2 * 4 * Math.tan(FIELD_OF_VIEW / 2);
  camera.move(0, 600, 600);
  near(subtract(camera.target, before), scale(up, seen));
  camera.move(-150, -600, 600);
  near(subtract(camera.target, before), scale(right, seen / 4));
});

test("nobody turns over the top or flies through what is shown", () => {
  const camera = new Camera(0, 0);
  camera.turn(0.5, 9);
  near([camera.azimuth, camera.elevation], [0.5, 1.5]);
  camera.zoom(1e-9);
  near(camera.distance, 0.05);
  camera.zoom(1e9);
  near(camera.distance, 40);
});

test("the target is in the middle of the picture", () => {
  const camera = new Camera(1, 0.2);
  camera.fit([[1, 2, 3], [4, 6, 1], [0, 0, 0]]);
  const [x, y] = project(camera.matrix(), camera.target);
  near([x, y], [0, 0], 1e-5);
  assert.ok(dot(camera.axes().out, add(camera.eye(), scale(camera.target, -1))) > 0);
});
