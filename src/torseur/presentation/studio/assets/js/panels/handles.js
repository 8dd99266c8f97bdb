// Handles on the coordinates: rings on the bodies that set where the motion starts, by pointer and by keys.
/** @import { Vector } from "../../../../report/assets/js/data.js" */
/** @import { Store } from "../../../../report/assets/js/shared/store.js" */
/** @import { Theatre } from "../../../../report/assets/js/scene/theatre.js" */
/** @import { Handle, Limits, Numbers, Quantity } from "../messages.js" */
/** @typedef {Handle & { element: HTMLButtonElement, text: HTMLElement }} Mark */
import { make } from "../../../../report/assets/js/shared/elements.js";
import { add, project, rotate, scale } from "../../../../report/assets/js/numbers/linear.js";
import { short, stepOf, within } from "./sliders.js";

const SHYNESS = 0.02; // of the hand's reach: how little a stretched arm may jump
const LONGEST_STEP = 0.6; // rad or m of a coordinate from one answer to the next: further on its direction is another one
const NEAR = 1; // pixels between a hand and the pointer that nobody sees
const ROUNDS_AFTER = 8; // answers that bring a hand nearer after the pointer has let it go
const SMALLEST_REACH = 6; // pixels per unit of the coordinate below which a drag means nothing

export class Handles {
  /**
   * @param {HTMLElement} root
   * @param {Store} store
   * @param {{ changed: (name: string, value?: number) => void, hold: (isHeld: boolean) => void }} acts
   *   `changed` is called while a handle moves, without a value when it goes back to the text; `hold` when one is taken or let go
   */
  constructor(root, store, { changed, hold }) {
    this.root = root;
    this.store = store;
    this.changed = changed;
    this.hold = hold;
    /** @type {Map<string, Mark>} */
    this.marks = new Map();
    /** Where the motion starts. @type {Numbers} */
    this.start = {};
    /** @type {Map<string, string>} */
    this.units = new Map();
    /** @type {Theatre | null} */
    this.theatre = null;
    this.names = "";
    /** Of the robot's joints; handles stay within them. @type {Limits} */
    this.limits = {};
    /** A hand on its way to a place on the screen, and how many answers may still bring it nearer. @type {{ name: string, to: [number, number], rounds: number } | null} */
    this.pursuit = null;
    store.subscribe(["playing"], ({ playing }) => root.classList.toggle("playing-now", playing));
  }

  /** Take over handles, the start of the motion, and what the coordinates are. @param {Handle[]} handles @param {Numbers} start @param {Quantity[]} quantities @param {Theatre | null} theatre */
  show(handles, start, quantities, theatre) {
    this.start = start;
    this.theatre = theatre;
    const names = handles.map(({ name, body }) => `${name} ${body}`).join("\n");
    if (names !== this.names) this.build(handles, quantities);
    this.names = names;
    for (const handle of handles) Object.assign(this.marks.get(handle.name) ?? {}, handle);
    this.place();
    this.pursue();
  }

  /** @param {Handle[]} handles @param {Quantity[]} quantities */
  build(handles, quantities) {
    this.units = new Map(quantities.map(({ name, unit }) => [name, unit]));
    this.marks = new Map(handles.map((handle) => [handle.name, this.ring(handle, quantities)]));
    this.root.replaceChildren(...[...this.marks.values()].map((mark) => mark.element));
  }

  /** @param {Handle} handle @param {Quantity[]} quantities @returns {Mark} */
  ring(handle, quantities) {
    const { name, body } = handle, meaning = quantities.find((one) => one.name === name)?.meaning, text = make("span", { className: "name" });
    const element = make("button", { type: "button", className: `handle ${handle.moves ? "hand " : ""}colour-${body}` }, text);
    element.setAttribute("role", handle.moves ? "button" : "slider");
    element.setAttribute("aria-label", handle.moves ? `hand ${name}: drag it, or move it by arrow keys` : meaning ? `${name}, ${meaning}, at the start` : `${name} at the start`);
    element.dataset.handle = name;
    const mark = { ...handle, element, text };
    element.addEventListener("pointerdown", (event) => this.take(event, mark));
    element.addEventListener("keydown", (event) => this.key(event, name));
    return mark;
  }

  // Put the rings where their points are now.
  place() {
    if (!this.theatre) return;
    for (const mark of this.marks.values()) {
      const [x, y] = this.pixel(mark, this.theatre, this.store.state.time);
      mark.element.style.transform = `translate(${x}px, ${y}px)`;
      if (mark.moves) {
        mark.text.textContent = mark.name;
        continue;
      }
      const value = this.start[mark.name], text = `${mark.name} = ${angle(value, this.units.get(mark.name) ?? "")}`;
      mark.text.textContent = text;
      mark.element.setAttribute("aria-valuenow", short(value));
      mark.element.setAttribute("aria-valuetext", text);
    }
  }

  /** Where the mark's point is on the screen at a time. @param {Mark} mark @param {Theatre} theatre @param {number} time @returns {[number, number]} */
  pixel({ body, point }, { stage }, time) {
    const { clientWidth, clientHeight } = stage.canvas, [p, q] = stage.motion.pose(body, time);
    const [x, y, , w] = project(stage.camera.matrix(), add(p, rotate(q, point)));
    return [((x / w) * 0.5 + 0.5) * clientWidth, (0.5 - (y / w) * 0.5) * clientHeight];
  }

  // Pixels that a point moves on the screen per unit of its coordinate, by a difference over a thousandth of a unit.
  /** @param {Mark} mark @returns {[number, number]} */
  reach(mark) { return this.onScreen(mark, mark.move); }

  /** Pixels for a way of the mark's point in the mechanism. @param {Mark} mark @param {Vector} move @returns {[number, number]} */
  onScreen(mark, move) {
    if (!this.theatre) return [0, 0];
    const { stage } = this.theatre, { clientWidth, clientHeight } = stage.canvas, camera = stage.camera.matrix();
    const [p, q] = stage.motion.pose(mark.body, stage.motion.first), from = add(p, rotate(q, mark.point));
    const step = 1e-3, way = scale(rotate(stage.motion.upright, move), step);
    /** @param {Vector} point */
    const screen = (point) => { const [x, y, , w] = project(camera, point); return [(x / w) * 0.5 * clientWidth, (-y / w) * 0.5 * clientHeight]; };
    const [a, b] = [screen(from), screen(add(from, way))];
    return [(b[0] - a[0]) / step, (b[1] - a[1]) / step];
  }

  /** @param {PointerEvent} event @param {Mark} mark */
  take(event, mark) {
    if (event.button !== 0 || !this.theatre) return;
    event.preventDefault();
    const { element, name } = mark;
    this.pursuit = null;
    element.focus({ preventScroll: true });
    element.setPointerCapture(event.pointerId);
    element.classList.add("held");
    this.goToStart();
    this.hold(true);
    const [x, y] = this.pixel(mark, this.theatre, this.theatre.stage.motion.first), from = [event.clientX, event.clientY];
    // Answers to earlier ways come late and bring their start with them: a drag counts from where it began.
    let value = this.start[name], before = from;
    /** @param {PointerEvent} moved */
    const move = ({ clientX, clientY }) => {
      if (mark.moves) {
        this.pursuit = { name, to: [x + clientX - from[0], y + clientY - from[1]], rounds: Infinity };
        this.pursue();
        return;
      }
      const [rx, ry] = this.reach(mark), long = rx * rx + ry * ry;
      if (long < SMALLEST_REACH ** 2) return;
      value = within(this.limits, name, value + ((clientX - before[0]) * rx + (clientY - before[1]) * ry) / long);
      before = [clientX, clientY];
      this.changed(name, value);
    };
    const end = () => {
      element.classList.remove("held");
      element.removeEventListener("pointermove", move);
      if (this.pursuit) this.pursuit.rounds = ROUNDS_AFTER;
      this.hold(false);
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("lostpointercapture", end, { once: true });
  }

  // Bring the hand nearer to where it is drawn, from where the last answer has it: each answer is a step of Newton's method.
  pursue() {
    const { pursuit, theatre } = this, mark = this.marks.get(pursuit?.name ?? "");
    if (!pursuit || !theatre || !mark) return;
    const [x, y] = this.pixel(mark, theatre, theatre.stage.motion.first), dx = pursuit.to[0] - x, dy = pursuit.to[1] - y;
    const isMoved = Math.hypot(dx, dy) > NEAR && pursuit.rounds > 0 && this.lead(mark, dx, dy, { ...this.start });
    pursuit.rounds -= 1;
    if (!isMoved && pursuit.rounds < Infinity) this.pursuit = null;
  }

  // The least motion of all coordinates that moves the hand so on the screen: dq = Jᵀ (J Jᵀ + λ)⁻¹ d, J with two rows.
  // Coordinates at their limits stay there, and the others move in their place. Returns whether the hand moves visibly.
  /** @param {Mark} mark @param {number} dx @param {number} dy @param {Numbers} values where the coordinates are; they are moved */
  lead(mark, dx, dy, values) {
    let free = Object.entries(mark.moves ?? {}).map(([name, move]) => ({ name, at: this.onScreen(mark, move), step: 0 }));
    const all = free, size = total(free, ([x, y]) => x * x + y * y);
    if (size < SMALLEST_REACH ** 2) return false;
    for (;;) {
      const held = all.filter((one) => !free.includes(one));
      const [a, b] = stretch(free, dx - total(held, ([x], step) => x * step), dy - total(held, ([, y], step) => y * step), SHYNESS * size);
      for (const one of free) one.step = one.at[0] * a + one.at[1] * b;
      const over = free.filter(({ name, step }) => within(this.limits, name, values[name] + step) !== values[name] + step);
      for (const one of over) one.step = within(this.limits, one.name, values[one.name] + one.step) - values[one.name];
      if (!over.length) break;
      free = free.filter((one) => !over.includes(one));
    }
    const ratio = Math.min(1, LONGEST_STEP / Math.max(...all.map(({ step }) => Math.abs(step))));
    const moved = Math.hypot(total(all, ([x], step) => x * step), total(all, ([, y], step) => y * step)) * ratio;
    if (!(moved > NEAR / 2)) return false;
    for (const { name, step } of all) {
      values[name] += step * ratio;
      this.changed(name, values[name]);
    }
    return true;
  }

  /** @param {KeyboardEvent} event @param {Mark} mark */
  keyOfHand(event, mark) {
    const pixels = { ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, -8], ArrowDown: [0, 8] }[event.key];
    if (event.key === "Escape") for (const name of Object.keys(mark.moves ?? {})) this.changed(name);
    if (!pixels) return;
    event.preventDefault();
    this.goToStart();
    this.pursuit = null;
    this.lead(mark, pixels[0], pixels[1], this.start);
  }

  /** @param {KeyboardEvent} event @param {string} name */
  key(event, name) {
    const mark = this.marks.get(name), way = stepOf(event);
    if (mark?.moves) return this.keyOfHand(event, mark);
    if (event.key === "Escape") this.changed(name);
    if (!way || !this.theatre) return;
    event.preventDefault();
    this.goToStart();
    const step = way * (this.units.get(name) === "rad" ? Math.PI / 90 : this.theatre.stage.camera.size / 50);
    this.start[name] = within(this.limits, name, this.start[name] + step);
    this.changed(name, this.start[name]);
  }

  goToStart() { this.store.set({ playing: false, time: this.theatre?.stage.motion.first ?? 0 }); }
}

/** How a coordinate moves the hand on the screen, and how far it goes. @typedef {{ at: [number, number], step: number }} Column */
/** @param {Column[]} columns @param {(at: [number, number], step: number) => number} of */
const total = (columns, of) => columns.reduce((sum, { at, step }) => sum + of(at, step), 0);

/** (J Jᵀ + λ)⁻¹ d. @param {Column[]} columns @param {number} dx @param {number} dy @param {number} shy @returns {[number, number]} */
function stretch(columns, dx, dy, shy) {
  const xx = total(columns, ([x]) => x * x) + shy, xy = total(columns, ([x, y]) => x * y), yy = total(columns, ([, y]) => y * y) + shy;
  const det = xx * yy - xy * xy;
  return [(yy * dx - xy * dy) / det, (xx * dy - xy * dx) / det];
}

/** @param {number} value @param {string} unit */
const angle = (value, unit) => (unit === "rad" ? `${short((value * 180) / Math.PI)}°` : `${short(value)} ${unit}`);
