// A slider and a number for each quantity; both write the same value.

// Range of a slider about a value: from nothing to twice as much, a whole turn for angles.
function rangeOf(value, unit) {
  if (unit === "rad") return [Math.min(-Math.PI, value - 0.5), Math.max(Math.PI, value + 0.5)];
  if (!value) return [-1, 1];
  return value > 0 ? [0, 2 * value] : [2 * value, 0];
}

export class Sliders {
  // `changed(name, value)` is called while a slider moves; a value of undefined means the one of the text.
  constructor(root, store, changed) {
    Object.assign(this, { root, store, changed, rows: new Map(), width: 0 });
    new ResizeObserver(() => { if (root.clientWidth !== this.width) this.giveRoom(); }).observe(root);
  }

  // Show quantities {name, value, unit, meaning, symbol}; `given` are values that differ from those of the text.
  show(quantities, given, following = []) {
    const key = JSON.stringify([quantities.map(({ name, unit, symbol }) => [name, unit, symbol]), following]);
    if (key !== this.key) this.build(quantities, following);
    this.key = key;
    for (const quantity of quantities) this.rows.get(quantity.name).set(quantity.value, Object.hasOwn(given, quantity.name) ? given[quantity.name] : undefined);
  }

  build(quantities, following) {
    this.rows = new Map(quantities.map((quantity) => [quantity.name, new Row(quantity, this.changed)]));
    this.root.replaceChildren(...[...this.rows.values()].map((row) => row.element), ...following.map(followingRow));
    // After the frame sizes cost no layout, and the font of the symbols is there or on its way.
    requestAnimationFrame(() => setTimeout(() => document.fonts.ready.then(() => this.giveRoom())));
  }

  // A symbol that its column would cut off gets a line of its own.
  giveRoom() {
    const rows = [...this.root.children];
    this.width = this.root.clientWidth;
    rows.forEach((row) => row.classList.remove("long"));
    const cut = rows.filter(({ firstElementChild: label }) => label.scrollWidth > label.clientWidth);
    cut.forEach((row) => row.classList.add("long"));
  }

  // Where the motion really starts, or what the text really says.
  put(name, value) { this.rows.get(name)?.put(value); }
}

class Row {
  constructor({ name, unit, meaning, symbol }, changed) {
    Object.assign(this, { name, unit, changed, range: [0, 1] });
    this.element = Object.assign(document.createElement("div"), { className: "slider" });
    this.element.dataset.name = name;
    const label = document.createElement("label");
    label.title = meaning ? `${name}: ${meaning}` : name;
    label.innerHTML = symbol;
    label.append(Object.assign(document.createElement("span"), { className: "spoken", textContent: meaning ? `${name}, ${meaning}` : name }));
    this.slider = Object.assign(document.createElement("input"), { type: "range", step: "any", id: `slider-${name}` });
    label.htmlFor = this.slider.id;
    this.number = Object.assign(document.createElement("input"), { type: "number", step: "any", id: `number-${name}`, autocomplete: "off" });
    this.number.setAttribute("aria-label", `${name}${unit ? ` in ${unit}` : ""}`);
    const written = Object.assign(document.createElement("span"), { className: "unit", textContent: unit, title: unit });
    this.element.append(label, this.slider, this.number, written);
    this.slider.addEventListener("input", () => this.move(Number(this.slider.value)));
    this.slider.addEventListener("keydown", (event) => this.key(event));
    this.slider.addEventListener("dblclick", () => this.release());
    this.number.addEventListener("input", () => this.typed());
  }

  // Take over the value of the text and one that replaces it.
  set(own, given) {
    const value = given ?? own, fresh = this.own !== own || !this.known;
    Object.assign(this, { own, known: true });
    if (fresh || (value !== null && (value < this.range[0] || value > this.range[1]))) this.setRange(value ?? 1);
    this.element.classList.toggle("changed", given !== undefined);
    this.put(value);
  }

  setRange(value) {
    this.range = rangeOf(value, this.unit);
    const [low, high] = this.range;
    Object.assign(this.slider, { min: low, max: high, step: (high - low) / 1000 });
  }

  put(value) {
    const [low, high] = this.range;
    this.value = value;
    if (value === null) return this.clear();
    if (Number(this.slider.value) !== value) { this.slider.step = "any"; this.slider.value = value; this.slider.step = (high - low) / 1000; }
    this.slider.style.setProperty("--done", `${(100 * (value - low)) / (high - low)}%`);
    this.slider.setAttribute("aria-valuetext", `${short(value)} ${this.unit}`);
    if (document.activeElement !== this.number) this.number.value = short(value);
  }

  // Nobody has given a value: the knob stands in the middle and says nothing.
  clear() {
    Object.assign(this.number, { value: "", placeholder: "value?" });
    this.slider.value = (this.range[0] + this.range[1]) / 2;
    this.slider.style.removeProperty("--done");
    this.slider.setAttribute("aria-valuetext", "no value");
  }

  move(value) {
    this.put(value);
    this.changed(this.name, value);
  }

  typed() {
    if (this.number.value === "" || !Number.isFinite(this.number.valueAsNumber)) return;
    const value = this.number.valueAsNumber;
    if (value < this.range[0] || value > this.range[1]) this.setRange(value);
    this.move(value);
  }

  // Arrow keys go by a hundredth of the range, with shift by a tenth of that; Escape goes back to the text.
  key(event) {
    if (event.key === "Escape") return this.release();
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!way) return;
    event.preventDefault();
    const [low, high] = this.range, step = ((high - low) / 100) * (event.shiftKey ? 0.1 : 1);
    this.move(Math.max(low, Math.min(high, Number(this.slider.value) + way * step)));
  }

  release() { this.changed(this.name, undefined); }
}

// A parameter that follows from others is shown with its formula.
function followingRow({ name, value, unit, symbol, formula, meaning }) {
  const row = Object.assign(document.createElement("div"), { className: "slider" });
  const label = Object.assign(document.createElement("span"), { title: meaning ? `${name}: ${meaning}` : name });
  label.innerHTML = symbol;
  label.append(Object.assign(document.createElement("span"), { className: "spoken", textContent: name }));
  row.append(
    label,
    Object.assign(document.createElement("span"), { className: "formula", textContent: `= ${formula}`, title: formula }),
    Object.assign(document.createElement("output"), { textContent: value === null ? "–" : short(value) }),
    Object.assign(document.createElement("span"), { className: "unit", textContent: unit }),
  );
  return row;
}

export const short = (value) => String(Number(value.toPrecision(5)));
