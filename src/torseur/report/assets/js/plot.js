// One plot of the page: curves over time, with zoom, pan, a cursor tied to the animation, a legend and export.
import { floatsOf, valueAt } from "./decode.js";
import { readable } from "./axes.js";
import { bandPath, drawAxes, frameOf, MARGINS, pathOf, svgElement, valueRange } from "./plot_area.js";
import { csvText, fileName, pngBlob, save, svgText } from "./plot_export.js";

const SHOWN_AT_FIRST = 6;
const READOUT_MS = 120;
const NARROWEST = 1e-3;

export class Plot {
  constructor(element, data, store) {
    this.element = element;
    this.store = store;
    this.title = data.title;
    this.unit = data.unit;
    this.clock = data.clock;
    this.size = [0, 0];
    this.across = data.across ?? "s";
    this.curves = data.curves.map((curve) => ({ ...curve, hidden: false }));
    this.fill(data);
    this.keys = [...element.querySelectorAll(".key")];
    this.area = element.querySelector(".area");
    this.curves.forEach((curve, k) => { curve.hidden = this.curves.length > SHOWN_AT_FIRST && k >= SHOWN_AT_FIRST; });
    this.buildLayers();
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

  // Take over times and values; curves stay as they are.
  fill({ times, curves }) {
    this.times = floatsOf(times);
    this.curves.forEach((curve, k) => {
      curve.values = floatsOf(curves[k].values);
      curve.band = curves[k].band && floatsOf(curves[k].band);
    });
  }

  // The same curves with new numbers.
  refill(data) {
    this.fill(data);
    this.draw();
  }

  // No longer follow the store and the size of the page.
  dispose() {
    this.resizing.disconnect();
    clearTimeout(this.reading);
    this.subscriptions.forEach((end) => end());
  }

  get shown() { return this.curves.filter((curve) => !curve.hidden); }
  get whole() { return [this.times[0], this.times[this.times.length - 1]]; }
  get timed() { return this.across === "s"; }
  get span() { return (this.timed ? this.store.state.span : null) ?? this.whole; }

  // Where a time of the store stands on this plot's axis, and back: seconds, percent between two times, or nowhere.
  placeOf(time) {
    if (this.timed) return time;
    return this.clock ? (100 * (time - this.clock[0])) / (this.clock[1] - this.clock[0]) : NaN;
  }

  timeOf(place) { return this.timed ? place : this.clock[0] + (place / 100) * (this.clock[1] - this.clock[0]); }

  buildLayers() {
    this.drawing = svgElement("svg", { class: "drawing", "aria-hidden": "true" });
    this.cursor = Object.assign(document.createElement("div"), { className: "cursor" });
    this.band = Object.assign(document.createElement("div"), { className: "band", hidden: true });
    this.dots = this.curves.map((curve) => {
      const dot = Object.assign(document.createElement("span"), { className: "dot" });
      dot.style.background = `var(${curve.colour})`;
      return dot;
    });
    this.cursor.append(...this.dots);
    this.area.append(this.drawing, this.cursor, this.band);
  }

  // In whole pixels, and as large as it is drawn: letters keep their size exactly.
  resize() {
    this.size = [this.area.clientWidth, this.area.clientHeight];
    ["width", "height"].forEach((name, k) => this.drawing.setAttribute(name, this.size[k]));
    this.draw();
  }

  // The size is that of the last layout: asking for it here would lay out the page anew for each plot.
  draw() {
    const [width, height] = this.size;
    if (!width || !height) return;
    this.frame = frameOf(width, height, this.span, valueRange(this.times, this.shown, ...this.span));
    const { left, right, top, bottom } = MARGINS;
    const inner = svgElement("svg", {
      class: "curves", x: left, y: top, width: width - left - right, height: height - top - bottom,
      viewBox: `${left} ${top} ${width - left - right} ${height - top - bottom}`,
    });
    for (const curve of this.shown) {
      if (curve.band) inner.append(this.bandOf(curve));
      const path = svgElement("path", { d: pathOf(this.frame, this.times, curve.values), "data-curve": this.curves.indexOf(curve) });
      path.style.stroke = `var(${curve.colour})`;
      if (curve.dashed) path.setAttribute("stroke-dasharray", "5 4");
      inner.append(path);
    }
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.replaceChildren(drawAxes(this.frame, width < 420, this.across), inner);
    this.element.classList.toggle("zoomed", this.store.state.span !== null);
    this.dots.forEach((dot, k) => { dot.hidden = this.curves[k].hidden; });
    this.moveCursor(this.store.state.time, true);
    this.point(this.store.state.pointed.bodies);
  }

  bandOf(curve) {
    const band = svgElement("path", { d: bandPath(this.frame, this.times, curve.values, curve.band), class: "band-of", "data-curve": this.curves.indexOf(curve) });
    band.style.fill = `var(${curve.colour})`;
    return band;
  }

  // Only transforms change here, so that the browser moves layers and does not paint the curves again.
  moveCursor(moment, now = false) {
    if (!this.frame) return;
    const time = this.placeOf(moment), inside = time >= this.frame.from && time <= this.frame.to;
    this.cursor.classList.toggle("outside", !inside);
    if (inside) {
      this.cursor.style.transform = `translateX(${this.frame.x(time).toFixed(1)}px)`;
      this.curves.forEach((curve, k) => {
        if (!curve.hidden) this.dots[k].style.transform = `translateY(${this.frame.y(valueAt(this.times, curve.values, time)).toFixed(1)}px)`;
      });
    }
    this.readOut(now);
  }

  // Numbers in the legend follow a few times a second: text is dear to lay out.
  readOut(now) {
    const write = () => {
      this.reading = 0;
      const scale = this.frame.high - this.frame.low, place = this.placeOf(this.store.state.time);
      const inside = this.timed || (place >= this.frame.from && place <= this.frame.to);
      this.curves.forEach((curve, k) => {
        if (!curve.hidden) this.keys[k].lastElementChild.textContent = inside ? readable(valueAt(this.times, curve.values, place), scale) : "";
      });
    };
    if (now || !this.store.state.playing) write();
    else if (!this.reading) this.reading = setTimeout(write, READOUT_MS);
  }

  // Curves of the bodies pointed at stand out.
  point(bodies) {
    const wanted = new Set(bodies.map((body) => `--body-${body}`));
    const any = this.shown.some((curve) => wanted.has(curve.colour));
    this.drawing.querySelectorAll("path").forEach((path) => {
      path.classList.toggle("faint", any && !wanted.has(this.curves[path.dataset.curve].colour));
    });
  }

  bindLegend() {
    this.keys.forEach((key, k) => key.addEventListener("click", () => this.show(k, this.curves[k].hidden)));
    const opener = this.element.querySelector("[data-choose=list]");
    opener?.addEventListener("click", () => this.list(opener.getAttribute("aria-expanded") === "false"));
    this.element.querySelector("[data-choose=all]")?.addEventListener("click", () => this.showListed(true));
    this.element.querySelector("[data-choose=none]")?.addEventListener("click", () => this.showListed(false));
    const filter = this.element.querySelector("input[type=search]");
    filter?.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      this.keys.forEach((key, k) => { key.hidden = !this.curves[k].label.toLowerCase().includes(wanted); });
    });
    this.markKeys();
  }

  // Show the full list of curves to choose from, or only the keys of the curves drawn.
  list(open) {
    this.element.querySelector("[data-choose=list]").setAttribute("aria-expanded", String(open));
    this.element.querySelector(".choose").hidden = !open;
    this.element.querySelector(".keys").classList.toggle("open", open);
  }

  show(k, visible) {
    this.curves[k].hidden = !visible;
    this.markKeys();
    this.draw();
  }

  showListed(visible) {
    this.keys.forEach((key, k) => { if (!key.hidden) this.curves[k].hidden = !visible; });
    this.markKeys();
    this.draw();
  }

  markKeys() {
    this.keys.forEach((key, k) => {
      key.setAttribute("aria-pressed", String(!this.curves[k].hidden));
      if (this.curves[k].hidden) key.lastElementChild.textContent = "";
    });
    const opener = this.element.querySelector("[data-choose=list]");
    if (opener) opener.textContent = `${this.shown.length} of ${this.curves.length} curves`;
  }

  bindTools() {
    const actions = {
      reset: () => this.store.set({ span: null }),
      csv: () => save(new Blob([csvText(this)], { type: "text/csv" }), fileName(this.title, ".csv")),
      svg: () => save(new Blob([this.svg()], { type: "image/svg+xml" }), fileName(this.title, ".svg")),
      png: async () => save(await pngBlob(this.svg(), this.frame.width, this.frame.height + 30), fileName(this.title, ".png")),
    };
    this.element.querySelectorAll("[data-tool]").forEach((button) => button.addEventListener("click", actions[button.dataset.tool]));
  }

  svg() { return svgText(this.drawing, this, this.shown); }

  zoomTo(from, to) {
    if (!this.timed) return;
    const [first, last] = this.whole, least = (last - first) * NARROWEST;
    if (to - from < least) return;
    const whole = from <= first && to >= last;
    this.store.set({ span: whole ? null : [Math.max(first, from), Math.min(last, to)] });
  }

  zoomAbout(time, factor) {
    const [from, to] = this.span;
    this.zoomTo(time - (time - from) * factor, time + (to - time) * factor);
  }

  pan(seconds) {
    const [from, to] = this.span, [first, last] = this.whole;
    const shift = Math.max(first - from, Math.min(last - to, seconds));
    this.zoomTo(from + shift, to + shift);
  }

  bindPointer() {
    const { area } = this, pixel = (event) => event.clientX - area.getBoundingClientRect().left;
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
      this.zoomAbout(this.frame.time(pixel(event)), Math.exp(event.deltaY * 0.0018));
    }, { passive: false });
  }

  isOnAxis(event) {
    return event.clientY > this.area.getBoundingClientRect().bottom - MARGINS.bottom;
  }

  follow(at) {
    if (!this.store.state.playing) this.goTo(this.frame.time(at));
  }

  goTo(time) {
    if (!this.timed && !this.clock) return;
    const [from, to] = this.span;
    this.store.set({ time: this.timeOf(Math.max(from, Math.min(to, time))) });
  }

  dragSpan(grip, at) {
    const seconds = this.frame.time(grip.pixel) - this.frame.time(at), [first, last] = this.whole;
    const shift = Math.max(first - grip.span[0], Math.min(last - grip.span[1], seconds));
    this.zoomTo(grip.span[0] + shift, grip.span[1] + shift);
  }

  showBand(from, to) {
    const left = Math.max(MARGINS.left, Math.min(from, to)), right = Math.min(this.frame.width - MARGINS.right, Math.max(from, to));
    Object.assign(this.band.style, { left: `${left}px`, width: `${Math.max(0, right - left)}px` });
    this.band.hidden = Math.abs(to - from) < 4;
  }

  finish(from, to) {
    if (Math.abs(to - from) < 6) return this.goTo(this.frame.time(to));
    const [start, end] = [from, to].map(this.frame.time).sort((a, b) => a - b);
    this.zoomTo(Math.max(this.span[0], start), Math.min(this.span[1], end));
  }

  bindKeys() {
    this.area.addEventListener("keydown", (event) => {
      const [from, to] = this.span, step = (to - from) / 100, time = this.placeOf(this.store.state.time);
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
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
