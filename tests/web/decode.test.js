import assert from "node:assert/strict";
import { test } from "node:test";
import { near, report } from "./modules.js";

const { bytesOf, courseOf, floatsOf, intervalAt, Motion, sampleBefore, unpackMesh, valueAt } = await report("numbers/decode");

const packed = (array) => Buffer.from(array.buffer).toString("base64");

test("text and bytes hold the same numbers", () => {
  const floats = Float32Array.of(0, -1.5, 3e7, NaN);
  assert.deepEqual([...floatsOf(packed(floats))], [...floats]);
  assert.equal(bytesOf(floats.buffer), floats.buffer);
});

test("a course counts its unit", () => {
  assert.deepEqual([...courseOf([0.25, packed(Int16Array.of(0, -32767, 2))])], [0, -8191.75, 0.5]);
});

test("the sample before a time is the last one that is not later", () => {
  const times = [0, 0.5, 0.5, 2, 7];
  for (const t of [-1, 0, 0.3, 0.5, 1, 2, 6.9, 7, 9]) {
    assert.equal(sampleBefore(times, t), Math.max(0, times.findLastIndex((time) => time <= t)), `t = ${t}`);
  }
});

test("a straight line is interpolated exactly, and held beyond its ends", () => {
  const times = Float32Array.of(0, 1, 3), values = times.map((t) => 2 - 4 * t);
  for (const t of [0, 0.25, 1, 2.5, 3]) near(valueAt(times, values, t), 2 - 4 * t);
  near([valueAt(times, values, -5), valueAt(times, values, 8)], [2, -10]);
  assert.deepEqual(intervalAt(times, 3), { k: 1, weight: 1 });
});

test("the vertices of a mesh fill the box around it", () => {
  const shape = { low: [-1, 0, 2], high: [1, 4, 2], vertices: packed(Uint16Array.of(0, 65535, 0, 65535, 0, 9)), triangles: packed(Uint16Array.of(0, 1, 1)) };
  const { points, corners } = unpackMesh(shape);
  near(points, [-1, 4, 2, 1, 0, 2], 1e-6);
  assert.deepEqual([...corners], [0, 1, 1]);
  assert.equal(unpackMesh(shape).points, points, "it is unpacked once");
});

// Body 0 stands still; body 1 turns about z by a right angle while it goes along x.
const STEPS = 32767, half = Math.round(STEPS * Math.SQRT1_2);
const PACKED = {
  times: packed(Float32Array.of(0, 2)), origin: [1, 0, 0], scale: 0.5, still: [true, false],
  poses: packed(Int16Array.of(0, 0, 4, STEPS, 0, 0, 0, 0, 0, 0, STEPS, 0, 0, 0, 8, 0, 0, half, 0, 0, half)),
};

test("poses are read body by body, and interpolated", () => {
  const motion = new Motion(PACKED, [0, 0, 1]);
  assert.deepEqual([motion.first, motion.last], [0, 2]);
  near(motion.pose(0, 1.3).flat(), [1, 0, 2, 1, 0, 0, 0]);
  near(motion.pose(1, 0).flat(), [1, 0, 0, 1, 0, 0, 0]);
  near(motion.pose(1, 2)[0], [5, 0, 0]);
  const [position, turn] = motion.pose(1, 1);
  near(position, [3, 0, 0]);
  near(turn, [Math.cos(Math.PI / 8), 0, 0, Math.sin(Math.PI / 8)], 1e-4);
});

test("a path leads through the places of a point of a body", () => {
  const path = new Motion(PACKED, [0, 0, 1]).path(1, [1, 0, 0]);
  near(path.flat(), [2, 0, 0, 5, 1, 0], 1e-4);
});

test("what is upward in the motion is upward in the scene", () => {
  const motion = new Motion({ ...PACKED, origin: [0, 3, 0] }, [0, 1, 0]);
  near(motion.pose(1, 0)[0], [0, 0, 3]);
});
