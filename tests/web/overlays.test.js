import assert from "node:assert/strict";
import { test } from "node:test";
import { near, report } from "./modules.js";

const { Overlay } = await report("scene/overlays");
const { marksOf } = await report("scene/marks");
const { project } = await report("numbers/linear");

const MISSING = -32768;
const MOTION = { times: Float32Array.of(0, 1, 2), upright: [1, 0, 0, 0] };
const places = (...steps) => ({ count: 1, origin: [1, 0, 0], scale: 0.5, steps: Int16Array.from(steps).buffer });

test("a dot is a ball about the place between two samples", () => {
  const dots = new Overlay({ kind: "dots", names: ["m"], radius: 0.1, colour: "", places: places(0, 0, 0, 4, 0, 2, 4, 0, 2) }, MOTION);
  const [{ part, matrix, from }] = dots.shapes(0.5);
  assert.equal(part, "ball");
  near(from, [2, 0, 0.5]);
  near(project(matrix, [0, 0, 0]).slice(0, 3), [2, 0, 0.5], 1e-6);
  near(project(matrix, [0, 0, 1]).slice(0, 3), [2, 0, 0.6], 1e-6);
});

test("a point that is missing at one sample stays where it is known, and is gone where it is not", () => {
  const gap = [MISSING, 0, 0], dots = new Overlay({ kind: "dots", names: ["m"], radius: 0.1, colour: "", places: places(0, 0, 0, ...gap, ...gap) }, MOTION);
  near(dots.shapes(0.9)[0].from, [1, 0, 0]);
  assert.deepEqual(dots.shapes(1.5), []);
});

test("an arrow goes from its start to its end: the head takes over where the shaft ends", () => {
  const still = (...step) => places(...step, ...step, ...step);
  const arrows = new Overlay({ kind: "arrows", names: ["f"], radius: 0.1, colour: "", starts: still(0, 0, 0), ends: still(0, 8, 6) }, MOTION);
  const [shaft, head] = arrows.shapes(1);
  near(shaft.from, [1, 0, 0]);
  near(head.to, [1, 4, 3]);
  near(shaft.to, head.from);
  near(project(head.matrix, [0, 0, 1]).slice(0, 3), [1, 4, 3], 1e-6);
  near(Math.hypot(...head.to.map((x, k) => x - head.from[k])), 0.42);
  const short = new Overlay({ kind: "arrows", names: ["f"], radius: 0.1, colour: "", starts: still(0, 0, 0), ends: still(0, 0, 0) }, MOTION);
  assert.deepEqual(short.shapes(1), []);
});

test("what is hidden has no shapes", () => {
  const dots = new Overlay({ kind: "dots", names: ["m"], radius: 0.1, colour: "", places: places(0, 0, 0, 0, 0, 0, 0, 0, 0) }, MOTION);
  dots.shown = false;
  assert.deepEqual(dots.shapes(0), []);
});

test("marks go with their bodies: axes of a turned frame, and the mass centre of two bodies", () => {
  const half = Math.SQRT1_2, poses = [[[1, 0, 0], [1, 0, 0, 0]], [[0, 0, 2], [half, 0, 0, half]]]; // the second a quarter turn about z
  const motion = { pose: (body) => poses[body] }, shown = new Set();
  const marks = marksOf({
    frames: [{ name: "f", body: 1, point: [1, 0, 0], turn: [half, half, 0, 0] }], length: 0.5, // and in it a quarter turn about x
  }, [{ body: 0, mass: 1, point: [0, 0, 0] }, { body: 1, mass: 3, point: [4, 0, 0] }], motion, shown);
  assert.deepEqual(marks.flatMap((mark) => mark.shapes(0)), []);
  shown.add("frames").add("centre");
  const [x, y, z, centre] = marks.map((mark) => mark.shapes(0));
  for (const axis of [x, y, z]) near(axis[0].from, [0, 1, 2]);
  near(x[1].to, [0, 1.5, 2]);
  near(y[1].to, [0, 1, 2.5]);
  near(z[1].to, [0.5, 1, 2]);
  near(centre[0].from, [0.25, 3, 1.5]);
});
