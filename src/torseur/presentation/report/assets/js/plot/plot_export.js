// A plot saved as a file: SVG with its colours written out, PNG at twice the size, or its numbers as CSV.
/** @import { Curve, Plot } from "./plot.js" */
import { all, make } from "../shared/elements.js";
import { setAttributes, svgElement } from "./plot_area.js";

/** @type {Record<string, Record<string, string>>} */
const LOOK = {
  ".grid": { stroke: "#dfe3e6" }, ".zero": { stroke: "#9aa2aa" }, ".base": { stroke: "#5f6a74" }, ".mark": { stroke: "#5f6a74" },
  "text": { fill: "#3c454d" },
};

/** @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** @param {string} title @param {string} ending */
export const fileName = (title, ending) => (title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "") || "plot") + ending;

/** One row per sample; texts are quoted, and a leading sign that spreadsheets would take for a formula is kept as text. @param {Pick<Plot, "across" | "curves" | "unit" | "times">} plot */
export function csvText(plot) {
  /** @param {string} text */
  const quoted = (text) => `"${(/^[=+\-@]/.test(text) ? "'" : "") + text.replaceAll('"', '""')}"`;
  const head = [plot.across === "%" ? "percent [%]" : "t [s]", ...plot.curves.map((curve) => `${curve.label} [${plot.unit || "1"}]`)].map(quoted).join(",");
  const rows = Array.from(plot.times, (t, k) => [t, ...plot.curves.map((curve) => curve.values[k])].map((v) => Number(v.toPrecision(8))).join(","));
  return [head, ...rows].join("\r\n") + "\r\n";
}

/** A copy that stands alone: white paper, title, legend, explicit colours. @param {SVGSVGElement} drawing @param {Plot} plot @param {Curve[]} shown */
export function svgText(drawing, plot, shown) {
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true)), { width, height } = drawing.viewBox.baseVal, head = 30;
  setAttributes(copy, {
    xmlns: "http://www.w3.org/2000/svg", viewBox: `0 ${-head} ${width} ${height + head}`, width, height: height + head,
    "font-family": "system-ui, sans-serif", "font-size": "11",
  });
  for (const [selector, look] of Object.entries(LOOK)) all(copy, selector).forEach((element) => setAttributes(element, look));
  const strokes = [...drawing.querySelectorAll("path:not(.band-of)")].map((path) => getComputedStyle(path).stroke);
  const fills = [...drawing.querySelectorAll(".band-of")].map((path) => getComputedStyle(path).fill);
  copy.querySelectorAll(".band-of").forEach((path, k) => {
    path.removeAttribute("style");
    setAttributes(path, { fill: fills[k], "fill-opacity": 0.2, stroke: "none" });
  });
  copy.querySelectorAll("path:not(.band-of)").forEach((path, k) => {
    path.removeAttribute("style");
    setAttributes(path, { fill: "none", stroke: strokes[k], "stroke-width": 1.6, "stroke-linejoin": "round" });
  });
  copy.prepend(svgElement("rect", { x: 0, y: -head, width, height: height + head, fill: "#ffffff" }));
  copy.append(legend(plot, shown, strokes, head));
  return new XMLSerializer().serializeToString(copy);
}

/** @param {Plot} plot @param {Curve[]} shown @param {string[]} strokes @param {number} head */
function legend(plot, shown, strokes, head) {
  const group = svgElement("g"), title = plot.unit ? `${plot.title} / ${plot.unit}` : plot.title;
  group.append(svgElement("text", { x: 8, y: 16 - head, "font-weight": "600", fill: "#1c2126" }, title));
  let x = 24 + 6.6 * title.length;
  shown.slice(0, strokes.length).forEach((curve, k) => {
    group.append(svgElement("line", { x1: x, x2: x + 16, y1: 12 - head, y2: 12 - head, stroke: strokes[k], "stroke-width": 2 }));
    group.append(svgElement("text", { x: x + 21, y: 16 - head, fill: "#3c454d" }, curve.label));
    x += 40 + 6.4 * curve.label.length;
  });
  return group;
}

/** @param {string} text @param {number} width @param {number} height @param {number} [scale] @returns {Promise<Blob>} */
export async function pngBlob(text, width, height, scale = 2) {
  const picture = new Image(), address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    picture.src = address;
    await picture.decode();
    const canvas = make("canvas", { width: width * scale, height: height * scale });
    canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}
