// The drawing of one plot as SVG: axes, grid and curves. The cursor is a separate layer, so that time can run cheaply.
/**
 * Maps time and value to pixels, and pixels to time.
 * @typedef {{ width: number, height: number, from: number, to: number, low: number, high: number,
 *   x: (t: number) => number, y: (v: number) => number, time: (pixel: number) => number }} Frame
 */
/** Values at the samples of a plot, and half the width of a band about them. @typedef {{ values: Float32Array, band?: Float32Array | null }} Samples */
import { sampleBefore } from "../numbers/decode.js";
import { tickText, ticks } from "../numbers/axes.js";

const SVG = "http://www.w3.org/2000/svg";
export const MARGINS = { left: 54, right: 12, top: 8, bottom: 24 };

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svgElement(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** @param {Element} element @param {Record<string, string | number>} attributes */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/** The samples to draw between two times: one more on either side, so that curves reach the edge. @param {Float32Array} times @param {number} from @param {number} to */
function samplesBetween(times, from, to) {
  return { first: Math.max(0, sampleBefore(times, from)), last: Math.min(times.length - 1, sampleBefore(times, to) + 1) };
}

/** Range of the visible curves between two times, with a little room. @param {Float32Array} times @param {Samples[]} curves @param {number} from @param {number} to @returns {[number, number]} */
export function valueRange(times, curves, from, to) {
  const { first, last } = samplesBetween(times, from, to);
  let low = Infinity, high = -Infinity;
  for (const { values, band } of curves) {
    for (let k = first; k <= last; k++) {
      if (!Number.isFinite(values[k])) continue;
      const half = band?.[k] ?? 0;
      if (values[k] - half < low) low = values[k] - half;
      if (values[k] + half > high) high = values[k] + half;
    }
  }
  if (low > high) return [-1, 1];
  const room = high > low ? (high - low) * 0.07 : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/** Maps time and value to pixels of an area of the given size. @param {number} width @param {number} height @param {[number, number]} span @param {[number, number]} range @returns {Frame} */
export function frameOf(width, height, [from, to], [low, high]) {
  const { left, right, top, bottom } = MARGINS;
  /** @param {number} t */
  const x = (t) => left + ((t - from) / (to - from)) * (width - left - right);
  /** @param {number} v */
  const y = (v) => height - bottom - ((v - low) / (high - low)) * (height - top - bottom);
  /** @param {number} pixel */
  const time = (pixel) => from + ((pixel - left) / (width - left - right)) * (to - from);
  return { width, height, from, to, low, high, x, y, time };
}

/** @param {Frame} frame @param {boolean} narrow @param {string} [unit] of the abscissa */
export function drawAxes(frame, narrow, unit = "s") {
  const { left, right, top, bottom } = MARGINS, base = frame.height - bottom, group = svgElement("g", { class: "axes" });
  const across = ticks(frame.from, frame.to, (frame.width - left - right) / (narrow ? 70 : 90));
  const upward = ticks(frame.low, frame.high, Math.max(2, (base - top) / 32));
  const largest = Math.max(Math.abs(frame.low), Math.abs(frame.high));
  for (const value of upward.values) {
    const y = round(frame.y(value));
    group.append(svgElement("line", { x1: left, x2: frame.width - right, y1: y, y2: y, class: value === 0 ? "zero" : "grid" }));
    group.append(svgElement("text", { x: left - 7, y: y + 3.5, "text-anchor": "end" }, tickText(value, upward.step, largest)));
  }
  across.values.forEach((value, k) => {
    const x = round(frame.x(value)), last = k === across.values.length - 1, tight = last && x > frame.width - right - 14;
    const text = tickText(value, across.step, Math.max(1, Math.abs(frame.to))) + (last ? ` ${unit}` : "");
    group.append(svgElement("line", { x1: x, x2: x, y1: base, y2: base + 4, class: "mark" }));
    group.append(svgElement("text", { x: tight ? frame.width - 2 : x, y: base + 16, "text-anchor": tight ? "end" : "middle" }, text));
  });
  group.append(svgElement("line", { x1: left, x2: frame.width - right, y1: base, y2: base, class: "base" }));
  return group;
}

// Half a pixel aside, a line of one pixel is sharp.
/** @param {number} pixel */
const round = (pixel) => Math.round(pixel) + 0.5;

/** A curve as path data; with more samples than pixels, each pixel keeps its lowest and highest value. @param {Frame} frame @param {Float32Array} times @param {Float32Array} values */
export function pathOf(frame, times, values) {
  const { first, last } = samplesBetween(times, frame.from, frame.to);
  const dense = last - first > 3 * frame.width;
  const kept = dense ? extremes(times, values, first, last, frame) : Array.from({ length: last - first + 1 }, (_, k) => first + k);
  let data = "", pen = "M";
  for (const k of kept) {
    if (!Number.isFinite(values[k])) { pen = "M"; continue; }
    data += `${pen}${frame.x(times[k]).toFixed(1)} ${frame.y(values[k]).toFixed(1)}`;
    pen = "L";
  }
  return data;
}

/** The area between a curve less and plus half the width of its band. @param {Frame} frame @param {Float32Array} times @param {Float32Array} values @param {Float32Array} band */
export function bandPath(frame, times, values, band) {
  /** @param {number} k @param {number} sign */
  const at = (k, sign) => `${frame.x(times[k]).toFixed(1)} ${frame.y(values[k] + sign * band[k]).toFixed(1)}`;
  const known = Array.from(times.keys()).filter((k) => Number.isFinite(values[k] + band[k]));
  return known.length ? `M${known.map((k) => at(k, 1)).join("L")}L${known.reverse().map((k) => at(k, -1)).join("L")}Z` : "";
}

/** @param {Float32Array} times @param {Float32Array} values @param {number} first @param {number} last @param {Frame} frame */
function extremes(times, values, first, last, frame) {
  const kept = [];
  for (let k = first; k <= last;) {
    const pixel = Math.floor(frame.x(times[k]));
    let low = k, high = k;
    for (; k <= last && Math.floor(frame.x(times[k])) === pixel; k++) {
      if (values[k] < values[low]) low = k;
      if (values[k] > values[high]) high = k;
    }
    kept.push(Math.min(low, high));
    if (low !== high) kept.push(Math.max(low, high));
  }
  return kept;
}
