// A slider and a number for each quantity; both write the same value.
/** @import { Limits, Numbers, Quantity } from "../messages.js" */
/** Called while a value moves; without one it goes back to that of the text. @typedef {(name: string, value?: number) => void} Changed */
import { make } from "../../../../report/assets/js/shared/elements.js";

/** Range of a slider about a value: from nothing to twice as much, a whole turn for angles. @param {number} value @param {string} unit @returns {[number, number]} */
export function rangeOf(value, unit) {
  if (unit === "rad") return [Math.min(-Math.PI, value - 0.5), Math.max(Math.PI, value + 0.5)];
  if (!value) return [-1, 1];
  return value > 0 ? [0, 2 * value] : [2 * value, 0];
}

const SLACK = 1e-9; // beyond a limit that counts as rounding

/** Limits are the ends of a slider; without them, and for values beyond, a range about the value. @param {number} value @param {string} unit @param {[number | null, number | null]} limits @returns {[number, number]} */
function rangeWithin(value, unit, [least, most]) {
  const [low, high] = rangeOf(value, unit);
  return [Math.min(least ?? low, value), Math.max(most ?? high, value)];
}

/** Limits of a coordinate; its name may be one that every object answers to, such as "constructor". @param {Limits} limits @param {string} name @returns {[number | null, number | null]} */
function limitsOf(limits, name) {
  return Object.hasOwn(limits, name) ? limits[name] : [null, null];
}

/** A value kept within the limits of a coordinate; one that is beyond already may come back. @param {Limits} limits @param {string} name @param {number} value */
export function within(limits, name, value) {
  const [least, most] = limitsOf(limits, name);
  return Math.min(most ?? Infinity, Math.max(least ?? -Infinity, value));
}

export class Sliders {
  /** @param {HTMLElement} root @param {Changed} changed */
  constructor(root, changed) {
    this.root = root;
    this.changed = changed;
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    this.width = 0;
    /** Limits of coordinates of robots. @type {Limits} */
    this.limits = {};
    this.key = ""; // of the quantities that there are rows for
    new ResizeObserver(() => { if (root.clientWidth !== this.width) this.giveRoom(); }).observe(root);
  }

  /** Show quantities; `given` are values that differ from those of the text, `following` are quantities that follow from others. @param {Quantity[]} quantities @param {Numbers} given @param {Quantity[]} [following] */
  show(quantities, given, following = []) {
    const key = JSON.stringify([quantities.map(({ name, unit, symbol }) => [name, unit, symbol]), following, this.limits]);
    if (key !== this.key) this.build(quantities, following);
    this.key = key;
    for (const { name, value } of quantities) this.rows.get(name)?.set(value, Object.hasOwn(given, name) ? given[name] : undefined);
  }

  /** @param {Quantity[]} quantities @param {Quantity[]} following */
  build(quantities, following) {
    this.rows = new Map(quantities.map((quantity) => [quantity.name, new Row(quantity, this.changed, limitsOf(this.limits, quantity.name))]));
    this.root.replaceChildren(...[...this.rows.values()].map((row) => row.element), ...following.map(followingRow));
    // After the frame sizes cost no layout, and the font of the symbols is there or on its way.
    requestAnimationFrame(() => setTimeout(() => document.fonts.ready.then(() => this.giveRoom())));
  }

  // A symbol that its column would cut off gets a line of its own.
  giveRoom() {
    const rows = [...this.root.children];
    this.width = this.root.clientWidth;
    rows.forEach((row) => row.classList.remove("long"));
    const cut = rows.filter(({ firstElementChild: label }) => label && label.scrollWidth > label.clientWidth);
    cut.forEach((row) => row.classList.add("long"));
  }

  /** Where the motion really starts, or what the text really says. @param {string} name @param {number} value */
  put(name, value) { this.rows.get(name)?.put(value); }
}

class Row {
  /** @param {Quantity} quantity @param {Changed} changed @param {[number | null, number | null]} limits */
  constructor({ name, unit, meaning, symbol }, changed, limits) {
    this.name = name;
    this.unit = unit;
    this.changed = changed;
    this.limits = limits;
    /** @type {[number, number]} */
    this.range = [0, 1];
    /** The value of the text; undefined until it is known. @type {number | null | undefined} */
    this.own = undefined;
    this.slider = make("input", { type: "range", step: "any", id: `slider-${name}` });
    this.number = make("input", { type: "number", step: "any", id: `number-${name}`, autocomplete: "off" });
    this.number.setAttribute("aria-label", `${name}${unit ? ` in ${unit}` : ""}`);
    const label = make("label", { title: meaning ? `${name}: ${meaning}` : name, htmlFor: this.slider.id, innerHTML: symbol });
    label.append(make("span", { className: "spoken", textContent: meaning ? `${name}, ${meaning}` : name }));
    this.element = make("div", { className: "slider" }, label, this.slider, this.number, make("span", { className: "unit", textContent: unit, title: unit }));
    this.element.dataset.name = name;
    this.slider.addEventListener("input", () => this.move(Number(this.slider.value)));
    this.slider.addEventListener("keydown", (event) => this.key(event));
    this.slider.addEventListener("dblclick", () => this.release());
    this.number.addEventListener("input", () => this.readNumber());
  }

  /** Take over the value of the text and one that replaces it. @param {number | null} own @param {number} [given] */
  set(own, given) {
    const value = given ?? own, fresh = this.own !== own;
    this.own = own;
    if (fresh || (value !== null && (value < this.range[0] || value > this.range[1]))) this.setRange(value ?? 1);
    this.element.classList.toggle("changed", given !== undefined);
    this.put(value);
  }

  /** @param {number} value */
  setRange(value) {
    this.range = rangeWithin(value, this.unit, this.limits);
    const [low, high] = this.range;
    Object.assign(this.slider, { min: String(low), max: String(high), step: String((high - low) / 1000) });
  }

  /** @param {number | null} value */
  put(value) {
    const [low, high] = this.range;
    if (value === null) return this.clear();
    this.warn(value);
    if (Number(this.slider.value) !== value) { // a step of its own would round it
      this.slider.step = "any";
      this.slider.value = String(value);
      this.slider.step = String((high - low) / 1000);
    }
    this.slider.style.setProperty("--done", `${(100 * (value - low)) / (high - low)}%`);
    this.slider.setAttribute("aria-valuetext", `${short(value)} ${this.unit}`);
    if (document.activeElement !== this.number) this.number.value = short(value);
  }

  // A value that a joint of the robot cannot have is marked, and its limits are said.
  /** @param {number} value */
  warn(value) {
    const [least, most] = this.limits, beyond = (least !== null && value < least - SLACK) || (most !== null && value > most + SLACK);
    this.element.classList.toggle("beyond", beyond);
    if (least === null && most === null) return;
    /** @param {number | null} one */
    const said = (one) => (one === null ? "none" : `${short(one)} ${this.unit}`);
    this.number.title = `${beyond ? "beyond the limits" : "limits"} of the robot file: ${said(least)} to ${said(most)}`;
    this.number.setAttribute("aria-invalid", String(beyond));
  }

  // Nobody has given a value: the knob stands in the middle and says nothing.
  clear() {
    Object.assign(this.number, { value: "", placeholder: "value?" });
    this.slider.value = String((this.range[0] + this.range[1]) / 2);
    this.slider.style.removeProperty("--done");
    this.slider.setAttribute("aria-valuetext", "no value");
  }

  /** @param {number} value */
  move(value) {
    this.put(value);
    this.changed(this.name, value);
  }

  // Take over what is typed, as far as it is a number.
  readNumber() {
    if (this.number.value === "" || !Number.isFinite(this.number.valueAsNumber)) return;
    const value = this.number.valueAsNumber;
    if (value < this.range[0] || value > this.range[1]) this.setRange(value);
    this.move(value);
  }

  /** Arrow keys go by a hundredth of the range, with shift by a tenth of that; Escape goes back to the text. @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape") return this.release();
    const [low, high] = this.range, way = stepOf(event);
    if (!way) return;
    event.preventDefault();
    this.move(Math.max(low, Math.min(high, Number(this.slider.value) + (way * (high - low)) / 100)));
  }

  release() { this.changed(this.name); }
}

/** A parameter that follows from others is shown with its formula. @param {Quantity} quantity */
function followingRow({ name, value, unit, symbol, formula, meaning }) {
  const label = make("span", { title: meaning ? `${name}: ${meaning}` : name, innerHTML: symbol });
  label.append(make("span", { className: "spoken", textContent: name }));
  return make("div", { className: "slider" },
    label,
    make("span", { className: "formula", textContent: `= ${formula}`, title: formula }),
    make("output", { textContent: value === null ? "–" : short(value) }),
    make("span", { className: "unit", textContent: unit }),
  );
}

/** @type {Record<string, number>} */
const STEPS_OF_KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

/** How many steps a key makes on a slider or a handle, a tenth of them with shift; none for any other key. @param {KeyboardEvent} event */
export const stepOf = ({ key, shiftKey }) => (STEPS_OF_KEYS[key] ?? 0) * (shiftKey ? 0.1 : 1);

/** Five digits. @param {number} value */
export const short = (value) => String(Number(value.toPrecision(5)));
