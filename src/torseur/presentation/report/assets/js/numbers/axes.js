// Ticks at round numbers, and numbers as text.

/** Round numbers from `low` to `high`, at about as many places as wanted and two at least, so that an axis has a scale: 1, 2 or 5 times a power of ten apart. @param {number} low @param {number} high @param {number} wanted @returns {{ values: number[], step: number }} */
export function ticks(low, high, wanted) {
  const spaced = ticksApart(low, high, wanted);
  return spaced.values.length < 2 && high > low && wanted < 64 ? ticks(low, high, Math.max(2, 1.5 * wanted)) : spaced;
}

/** @param {number} low @param {number} high @param {number} wanted */
function ticksApart(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted), power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((m) => m * power >= rough * 0.999) ?? 10) * power;
  /** @type {number[]} */
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) values.push(k * step);
  return { values, step };
}

/** A tick's number, with the decimals that its step needs. @param {number} value @param {number} step @param {number} largest */
export function tickText(value, step, largest) {
  if (largest >= 1e5 || largest < 1e-3) return scientific(value, step);
  return minus(value.toFixed(Math.min(8, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)))));
}

/** A value for reading: three decimals or more digits where it is small, a true minus sign; dust beside `scale` is zero. @param {number} value @param {number} [scale] */
export function readable(value, scale = 0) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value) < 1e-7 * scale ? 0 : Math.abs(value);
  if (size === 0) return "0.000";
  if ((size < 1e-3 && scale < 1) || size >= 1e5) return scientific(value, size * 1e-3);
  return minus(value.toFixed(size >= 1000 ? 1 : size >= 100 ? 2 : 3));
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** @param {number} value @param {number} step */
function scientific(value, step) {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  const digits = Math.min(6, Math.max(0, exponent - Math.floor(Math.log10(step) + 1e-9)));
  const raised = String(exponent).replace(/[-\d]/g, (letter) => (letter === "-" ? "⁻" : SUPERSCRIPTS[Number(letter)]));
  return minus((value / 10 ** exponent).toFixed(digits)) + "·10" + raised;
}

/** @param {string} text */
const minus = (text) => text.replace("-", "−");
