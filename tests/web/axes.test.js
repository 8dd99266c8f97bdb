import assert from "node:assert/strict";
import { test } from "node:test";
import { near, report } from "./modules.js";

const { readable, tickText, ticks } = await report("numbers/axes");

test("ticks are at whole multiples of 1, 2 or 5 times a power of ten, all of them within the range", () => {
  for (const [low, high] of [[0, 10], [-3.2, 7.9], [1e-7, 3e-7], [-2e9, 5e9], [0.99, 1.01], [-1, 1]]) {
    for (const wanted of [1, 3, 6, 11]) {
      const { values, step } = ticks(low, high, wanted), mantissa = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
      assert.ok([1, 2, 5, 10].some((m) => Math.abs(mantissa - m) < 1e-6), `${step}`);
      assert.ok(values.every((value) => Math.abs(value / step - Math.round(value / step)) < 1e-6));
      assert.ok(values.every((value) => value >= low - 1e-6 * step && value <= high + 1e-6 * step));
      assert.equal(values.length, Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1);
      assert.ok(values.length <= wanted + 2);
    }
  }
});

test("ends that are round are ticks", () => {
  near(ticks(0, 10, 5).values, [0, 2, 4, 6, 8, 10]);
  near(ticks(0.1, 0.3, 2).values, [0.1, 0.2, 0.3]);
});

test("ticks have the decimals of their step", () => {
  assert.equal(tickText(0.5, 0.25, 1), "0.5"); // a step of 0.25 does not occur: one digit is that of its power
  assert.equal(tickText(-0.2, 0.1, 1), "−0.2");
  assert.equal(tickText(120, 20, 120), "120");
  assert.equal(tickText(200000, 100000, 300000), "2·10⁵");
  assert.equal(tickText(-4e-5, 2e-5, 8e-5), "−4·10⁻⁵");
  assert.equal(tickText(0, 2e-5, 8e-5), "0");
});

test("values are read with digits that matter", () => {
  assert.equal(readable(-1.23456), "−1.235");
  assert.equal(readable(123.456), "123.46");
  assert.equal(readable(1234.56), "1234.6");
  assert.equal(readable(1234567), "1.235·10⁶");
  assert.equal(readable(0.000123), "1.230·10⁻⁴");
  assert.equal(readable(0.000123, 10), "0.000");
  assert.equal(readable(1e-12, 1), "0.000");
  assert.equal(readable(NaN), "–");
});

test("every axis has two numbers at least", () => {
  for (const [low, high] of [[-0.9, 0.9], [3, 3.4], [-1e-5, 4e-5], [99, 101.3], [-0.04, 0.49]]) {
    for (const wanted of [1, 1.2, 2, 3]) assert.ok(ticks(low, high, wanted).values.length >= 2, `${low} to ${high}`);
  }
});
