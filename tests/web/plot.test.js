import assert from "node:assert/strict";
import { test } from "node:test";
import { near, report } from "./modules.js";

const { bandPath, frameOf, MARGINS, pathOf, valueRange } = await report("plot/plot_area");
const { csvText, fileName } = await report("plot/plot_export");

const points = (path) => path.match(/[ML][^MLZ]+/g).map((piece) => piece.slice(1).split(" ").map(Number));

test("a frame takes the corners of its ranges to the corners of its area, and pixels back to time", () => {
  const frame = frameOf(600, 200, [2, 12], [-1, 3]);
  near([frame.x(2), frame.x(12), frame.y(3), frame.y(-1)], [MARGINS.left, 600 - MARGINS.right, MARGINS.top, 200 - MARGINS.bottom]);
  for (const t of [2, 3.7, 12]) near(frame.time(frame.x(t)), t);
});

test("the range holds what is visible, its bands too, with seven percent of room", () => {
  const times = Float32Array.of(0, 1, 2, 3, 4), curve = { values: Float32Array.of(0, 1, NaN, 2, 50) };
  near(valueRange(times, [curve], 0, 1.5), [-0.07, 1.07], 1e-6); // the sample at 2 is not a number
  near(valueRange(times, [{ ...curve, band: Float32Array.of(1, 1, 1, 1, 1) }], 0, 1.5), [-1.21, 2.21], 1e-6);
  assert.deepEqual(valueRange(times, [], 0, 4), [-1, 1]);
  near(valueRange(times, [{ values: Float32Array.of(5, 5, 5, 5, 5) }], 0, 4), [4.5, 5.5]);
  near(valueRange(times, [{ values: new Float32Array(5) }], 0, 4), [-1, 1]);
});

test("a curve goes through its samples, and is broken where there are none", () => {
  const times = Float32Array.of(0, 1, 2, 3), values = Float32Array.of(0, 1, NaN, 0.5), frame = frameOf(300, 150, [0, 3], [0, 1]);
  const path = pathOf(frame, times, values);
  near(points(path).flat(), [0, 1, 3].flatMap((k) => [frame.x(times[k]), frame.y(values[k])]), 0.051);
  assert.equal(path.match(/M/g).length, 2);
});

test("a curve with more samples than pixels keeps its peaks", () => {
  const count = 20000, times = Float32Array.from({ length: count }, (_, k) => k / count), values = times.map((t) => Math.sin(40 * t));
  values[12345] = 7;
  values[6543] = -7;
  const frame = frameOf(400, 200, [0, 1], [-8, 8]), drawn = points(pathOf(frame, times, values));
  assert.ok(drawn.length < 4 * 400, `${drawn.length} points`);
  near([Math.min(...drawn.map(([, y]) => y)), Math.max(...drawn.map(([, y]) => y))], [frame.y(7), frame.y(-7)], 0.051);
  assert.ok(drawn.every(([x], k) => k === 0 || x >= drawn[k - 1][0]));
});

test("a band goes there above the curve and back below it", () => {
  const frame = frameOf(300, 150, [0, 1], [0, 4]), times = Float32Array.of(0, 1);
  const band = points(bandPath(frame, times, Float32Array.of(2, 2), Float32Array.of(1, 0.5)));
  near(band.map(([, y]) => y), [frame.y(3), frame.y(2.5), frame.y(1.5), frame.y(1)], 0.051);
  assert.equal(bandPath(frame, times, Float32Array.of(NaN, NaN), Float32Array.of(1, 1)), "");
});

test("numbers go to a table that no spreadsheet takes for a formula", () => {
  const curves = [{ label: '=cmd|"x"', values: Float32Array.of(0.1, -2) }, { label: "q", values: Float32Array.of(1, 3) }];
  const text = csvText({ across: "s", unit: "m", times: Float32Array.of(0, 0.5), curves });
  assert.equal(text, '"t [s]","\'=cmd|""x"" [m]","q [m]"\r\n0,0.1,1\r\n0.5,-2,3\r\n');
});

test("titles make names of files", () => {
  assert.equal(fileName("Énergie / J (2)", ".csv"), "énergie_j_2.csv");
  assert.equal(fileName("../..", ".svg"), "plot.svg");
});
