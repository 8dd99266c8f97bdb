// One plot of the page: curves over time, with zoom, pan, a cursor tied to the animation, a legend and export.
/** @import { CurveData, PlotData } from "../data.js" */
/** @import { Frame } from "./plot_area.js" */
/** @import { Store } from "../shared/store.js" */
/** A curve with its numbers unpacked. @typedef {Omit<CurveData, "values" | "band"> & { values: Float32Array, band: Float32Array | null, hidden: boolean }} Curve */
/** Where a drag began: its pixel, the span of then, and whether it moves the span. @typedef {{ pixel: number, span: [number, number], panning: boolean }} Grip */
import { floatsOf, valueAt } from "../numbers/decode.js";
import { all, first, make } from "../shared/elements.js";
import { readable } from "../numbers/axes.js";
import { bandPath, drawAxes, frameOf, MARGINS, pathOf, setAttributes, svgElement, valueRange } from "./plot_area.js";
import { csvText, fileName, pngBlob, save, svgText } from "./plot_export.js";

const SHOWN_AT_FIRST = 6;
const READOUT_MS = 120;
const NARROWEST = 1e-3;

export class Plot {
  /** @param {HTMLElement} element @param {PlotData} data @param {Store} store */
  constructor(element, data, store) {
    this.element = element;
    this.store = store;
    this.title = data.title;
    this.unit = data.unit;
    this.clock = data.clock;
    this.size = [0, 0];
    /** @type {Frame | null} */
    this.frame = null;
    /** The numbers in the legend that wait to be written. @type {ReturnType<typeof setTimeout> | undefined} */
    this.reading = undefined;
    this.across = data.across ?? "s";
    this.times = floatsOf(data.times);
    /** @type {Curve[]} */
    this.curves = data.curves.map((curve, k) => ({ ...curve, ...unpack(curve), hidden: k >= SHOWN_AT_FIRST }));
    this.keys = all(element, ".key");
    this.area = first(element, ".area");
    this.opener = element.querySelector("[data-choose=list]");
    this.drawing = svgElement("svg", { class: "drawing", "aria-hidden": "true" });
    this.cursor = make("div", { className: "cursor" });
    this.band = make("div", { className: "band", hidden: true });
    this.dots = this.curves.map((curve) => {
      const dot = make("span", { className: "dot" });
      dot.style.background = `var(${curve.colour})`;
      return dot;
    });
    this.cursor.append(...this.dots);
    this.area.append(this.drawing, this.cursor, this.band);
    this.bindLegend();
    this.bindTools();
    this.bindPointer();
    this.bindKeys();
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(this.area);
    this.subscriptions = [
      store.subscribe(["span"], () => this.draw()),
      store.subscribe(["time"], ({ time }) => this.moveCursor(time)),
      store.subscribe(["pointed"], ({ pointed }) => this.point(pointed.bodies)),
    ];
  }

  /** The same curves with new numbers. @param {PlotData} data */
  refill({ times, curves }) {
    this.times = floatsOf(times);
    this.curves.forEach((curve, k) => Object.assign(curve, unpack(curves[k])));
    this.draw();
  }

  // No longer follow the store and the size of the page.
  dispose() {
    this.resizing.disconnect();
    clearTimeout(this.reading);
    this.subscriptions.forEach((end) => end());
  }

  get shown() { return this.curves.filter((curve) => !curve.hidden); }
  /** @returns {[number, number]} */
  get whole() { return [this.times[0], this.times[this.times.length - 1]]; }
  get timed() { return this.across === "s"; }
  get span() { return (this.timed ? this.store.state.span : null) ?? this.whole; }

  /** Where a time of the store stands on this plot's axis: seconds, percent between two times, or nowhere. @param {number} time */
  placeOf(time) {
    if (this.timed) return time;
    return this.clock ? (100 * (time - this.clock[0])) / (this.clock[1] - this.clock[0]) : NaN;
  }

  /** The time of the store at a place of this plot's axis. @param {number} place */
  timeOf(place) { return this.clock && !this.timed ? this.clock[0] + (place / 100) * (this.clock[1] - this.clock[0]) : place; }

  // In whole pixels, and as large as it is drawn: letters keep their size exactly.
  resize() {
    this.size = [this.area.clientWidth, this.area.clientHeight];
    setAttributes(this.drawing, { width: this.size[0], height: this.size[1] });
    this.draw();
  }

  // The size is that of the last layout: asking for it here would lay out the page anew for each plot.
  draw() {
    const [width, height] = this.size;
    if (!width || !height) return;
    const frame = frameOf(width, height, this.span, valueRange(this.times, this.shown, ...this.span));
    this.frame = frame;
    const { left, right, top, bottom } = MARGINS;
    const inner = svgElement("svg", {
      class: "curves", x: left, y: top, width: width - left - right, height: height - top - bottom,
      viewBox: `${left} ${top} ${width - left - right} ${height - top - bottom}`,
    });
    for (const curve of this.shown) {
      if (curve.band) inner.append(this.bandOf(frame, curve, curve.band));
      const path = svgElement("path", { d: pathOf(frame, this.times, curve.values), "data-curve": this.curves.indexOf(curve) });
      path.style.stroke = `var(${curve.colour})`;
      if (curve.dashed) path.setAttribute("stroke-dasharray", "5 4");
      inner.append(path);
    }
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.replaceChildren(drawAxes(frame, width < 420, this.across), inner);
    this.element.classList.toggle("zoomed", this.store.state.span !== null);
    this.dots.forEach((dot, k) => { dot.hidden = this.curves[k].hidden; });
    this.moveCursor(this.store.state.time, true);
    this.point(this.store.state.pointed.bodies);
  }

  /** @param {Frame} frame @param {Curve} curve @param {Float32Array} half */
  bandOf(frame, curve, half) {
    const band = svgElement("path", { d: bandPath(frame, this.times, curve.values, half), class: "band-of", "data-curve": this.curves.indexOf(curve) });
    band.style.fill = `var(${curve.colour})`;
    return band;
  }

  /** Only transforms change here, so that the browser moves layers and does not paint the curves again. @param {number} time @param {boolean} [now] */
  moveCursor(time, now = false) {
    const { frame } = this;
    if (!frame) return;
    const place = this.placeOf(time), inside = place >= frame.from && place <= frame.to;
    this.cursor.classList.toggle("outside", !inside);
    if (inside) {
      this.cursor.style.transform = `translateX(${frame.x(place).toFixed(1)}px)`;
      this.curves.forEach((curve, k) => {
        if (!curve.hidden) this.dots[k].style.transform = `translateY(${frame.y(valueAt(this.times, curve.values, place)).toFixed(1)}px)`;
      });
    }
    if (now || !this.store.state.playing) this.readOut();
    else this.reading ??= setTimeout(() => this.readOut(), READOUT_MS); // text is dear to lay out
  }

  // Numbers in the legend.
  readOut() {
    const { frame } = this;
    this.reading = undefined;
    if (!frame) return;
    const scale = frame.high - frame.low, place = this.placeOf(this.store.state.time);
    const inside = this.timed || (place >= frame.from && place <= frame.to);
    this.curves.forEach((curve, k) => {
      if (!curve.hidden) this.writeKey(k, inside ? readable(valueAt(this.times, curve.values, place), scale) : "");
    });
  }

  /** @param {number} k @param {string} text */
  writeKey(k, text) {
    const number = this.keys[k].lastElementChild;
    if (number) number.textContent = text;
  }

  /** Curves of the bodies pointed at stand out. @param {number[]} bodies */
  point(bodies) {
    const wanted = new Set(bodies.map((body) => `--body-${body}`));
    const any = this.shown.some((curve) => wanted.has(curve.colour));
    this.drawing.querySelectorAll("path").forEach((path) => {
      path.classList.toggle("faint", any && !wanted.has(this.curves[Number(path.dataset.curve)].colour));
    });
  }

  bindLegend() {
    this.keys.forEach((key, k) => key.addEventListener("click", () => this.show(k, this.curves[k].hidden)));
    this.opener?.addEventListener("click", () => this.list(this.opener?.getAttribute("aria-expanded") === "false"));
    this.element.querySelector("[data-choose=all]")?.addEventListener("click", () => this.showListed(true));
    this.element.querySelector("[data-choose=none]")?.addEventListener("click", () => this.showListed(false));
    const [filter] = all(this.element, "input[type=search]", HTMLInputElement);
    filter?.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      this.keys.forEach((key, k) => { key.hidden = !this.curves[k].label.toLowerCase().includes(wanted); });
    });
    this.markKeys();
  }

  /** Show the full list of curves to choose from, or only the keys of the curves drawn. @param {boolean} open */
  list(open) {
    this.opener?.setAttribute("aria-expanded", String(open));
    first(this.element, ".choose").hidden = !open;
    first(this.element, ".keys").classList.toggle("open", open);
  }

  /** @param {number} k @param {boolean} visible */
  show(k, visible) {
    this.curves[k].hidden = !visible;
    this.markKeys();
    this.draw();
  }

  /** @param {boolean} visible */
  showListed(visible) {
    this.keys.forEach((key, k) => { if (!key.hidden) this.curves[k].hidden = !visible; });
    this.markKeys();
    this.draw();
  }

  markKeys() {
    this.keys.forEach((key, k) => {
      key.setAttribute("aria-pressed", String(!this.curves[k].hidden));
      if (this.curves[k].hidden) this.writeKey(k, "");
    });
    if (this.opener) this.opener.textContent = `${this.shown.length} of ${this.curves.length} curves`;
  }

  bindTools() {
    /** @type {Record<string, () => void>} */
    const actions = {
      reset: () => this.store.set({ span: null }),
      csv: () => save(new Blob([csvText(this)], { type: "text/csv" }), fileName(this.title, ".csv")),
      svg: () => save(new Blob([this.svg()], { type: "image/svg+xml" }), fileName(this.title, ".svg")),
      png: async () => save(await pngBlob(this.svg(), this.size[0], this.size[1] + 30), fileName(this.title, ".png")),
    };
    all(this.element, "[data-tool]").forEach((button) => button.addEventListener("click", actions[button.dataset.tool ?? ""]));
  }

  svg() { return svgText(this.drawing, this, this.shown); }

  /** @param {number} from @param {number} to */
  zoomTo(from, to) {
    if (!this.timed) return;
    const [start, end] = this.whole;
    if (to - from < (end - start) * NARROWEST) return;
    const whole = from <= start && to >= end;
    this.store.set({ span: whole ? null : [Math.max(start, from), Math.min(end, to)] });
  }

  /** @param {number} time @param {number} factor */
  zoomAbout(time, factor) {
    const [from, to] = this.span;
    this.zoomTo(time - (time - from) * factor, time + (to - time) * factor);
  }

  /** @param {number} seconds */
  pan(seconds) {
    this.moveSpan(this.span, seconds);
  }

  /** Show a span moved by some seconds, as far as there are samples. @param {[number, number]} span @param {number} seconds */
  moveSpan([from, to], seconds) {
    const [start, end] = this.whole, shift = Math.max(start - from, Math.min(end - to, seconds));
    this.zoomTo(from + shift, to + shift);
  }

  bindPointer() {
    const { area } = this;
    /** @param {MouseEvent} event */
    const pixel = (event) => event.clientX - area.getBoundingClientRect().left;
    /** @type {Grip | null} */
    let grip = null;
    area.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      grip = { pixel: pixel(event), span: this.span, panning: event.shiftKey || this.isOnAxis(event) };
      area.setPointerCapture(event.pointerId);
    });
    area.addEventListener("pointermove", (event) => {
      const at = pixel(event);
      if (!grip) return this.follow(at);
      if (grip.panning) return this.dragSpan(grip, at);
      this.showBand(grip.pixel, at);
    });
    area.addEventListener("pointerup", (event) => {
      if (grip && !grip.panning) this.finish(grip.pixel, pixel(event));
      grip = null;
      this.band.hidden = true;
    });
    area.addEventListener("pointercancel", () => { grip = null; this.band.hidden = true; });
    area.addEventListener("dblclick", () => this.store.set({ span: null }));
    area.addEventListener("wheel", (event) => {
      if (!(event.ctrlKey || event.metaKey || event.altKey || document.activeElement === area)) return;
      event.preventDefault();
      this.zoomAbout(this.placeAt(pixel(event)), Math.exp(event.deltaY * 0.0018));
    }, { passive: false });
  }

  /** The time, or the percent, at a pixel. @param {number} pixel */
  placeAt(pixel) { return this.frame ? this.frame.time(pixel) : NaN; }

  /** @param {PointerEvent} event */
  isOnAxis(event) {
    return event.clientY > this.area.getBoundingClientRect().bottom - MARGINS.bottom;
  }

  /** @param {number} at */
  follow(at) {
    if (!this.store.state.playing) this.goTo(this.placeAt(at));
  }

  /** @param {number} time */
  goTo(time) {
    if ((!this.timed && !this.clock) || Number.isNaN(time)) return;
    const [from, to] = this.span;
    this.store.set({ time: this.timeOf(Math.max(from, Math.min(to, time))) });
  }

  /** @param {Grip} grip @param {number} at */
  dragSpan(grip, at) { this.moveSpan(grip.span, this.placeAt(grip.pixel) - this.placeAt(at)); }

  /** @param {number} from @param {number} to */
  showBand(from, to) {
    const left = Math.max(MARGINS.left, Math.min(from, to)), right = Math.min(this.size[0] - MARGINS.right, Math.max(from, to));
    Object.assign(this.band.style, { left: `${left}px`, width: `${Math.max(0, right - left)}px` });
    this.band.hidden = Math.abs(to - from) < 4;
  }

  /** @param {number} from @param {number} to */
  finish(from, to) {
    if (Math.abs(to - from) < 6) return this.goTo(this.placeAt(to));
    const [start, end] = [from, to].map((pixel) => this.placeAt(pixel)).sort((a, b) => a - b);
    this.zoomTo(Math.max(this.span[0], start), Math.min(this.span[1], end));
  }

  bindKeys() {
    this.area.addEventListener("keydown", (event) => {
      const [from, to] = this.span, step = (to - from) / 100, time = this.placeOf(this.store.state.time);
      const way = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
      if (way && event.shiftKey) this.pan(way * step * 10);
      else if (way) this.goTo(time + way * step);
      else if (event.key === "+" || event.key === "=") this.zoomAbout(time, 0.7);
      else if (event.key === "-") this.zoomAbout(time, 1 / 0.7);
      else if (event.key === "0" || event.key === "Escape") this.store.set({ span: null });
      else return;
      event.preventDefault();
    });
  }
}

/** @param {CurveData} curve */
const unpack = ({ values, band }) => ({ values: floatsOf(values), band: band ? floatsOf(band) : null });
