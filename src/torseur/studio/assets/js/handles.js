// Handles on the coordinates: rings on the bodies that set where the motion starts, by pointer and by keys.
import { add, project, rotate } from "../../report/js/linear.js";
import { short } from "./sliders.js";

const SMALLEST_REACH = 6; // pixels per unit of the coordinate below which a drag means nothing

export class Handles {
  // `changed(name, value)` is called while a handle moves, `held(true or false)` when it is taken and let go.
  constructor(root, store, { changed, held }) {
    Object.assign(this, { root, store, changed, held, marks: new Map(), start: {}, units: Object.create(null) });
    store.subscribe(["playing"], ({ playing }) => root.classList.toggle("playing-now", playing));
  }

  // Take over handles {name, body, point, move}, the start of the motion, and units and meanings by name.
  show(handles, start, quantities, theatre) {
    Object.assign(this, { start, theatre });
    const names = handles.map(({ name, body }) => `${name} ${body}`).join("\n");
    if (names !== this.names) this.build(handles, quantities);
    this.names = names;
    for (const handle of handles) Object.assign(this.marks.get(handle.name), handle);
    this.place();
  }

  build(handles, quantities) {
    this.marks = new Map(handles.map((handle) => [handle.name, { ...handle, element: this.ring(handle, quantities) }]));
    this.root.replaceChildren(...[...this.marks.values()].map((mark) => mark.element));
  }

  ring({ name, body }, quantities) {
    const { unit = "", meaning = "" } = quantities.find((one) => one.name === name) ?? {};
    const element = Object.assign(document.createElement("button"), { type: "button", className: `handle colour-${body}` });
    element.setAttribute("role", "slider");
    element.setAttribute("aria-label", meaning ? `${name}, ${meaning}, at the start` : `${name} at the start`);
    element.append(Object.assign(document.createElement("span"), { className: "name" }));
    element.dataset.handle = name;
    this.units[name] = unit;
    element.addEventListener("pointerdown", (event) => this.take(event, name));
    element.addEventListener("keydown", (event) => this.key(event, name));
    return element;
  }

  // Put the rings where their points are now.
  place() {
    if (!this.theatre) return;
    const { stage } = this.theatre, { clientWidth, clientHeight } = stage.canvas, camera = stage.camera.matrix();
    for (const mark of this.marks.values()) {
      const [p, q] = stage.motion.pose(mark.body, this.store.state.time);
      const [x, y, , w] = project(camera, add(p, rotate(q, mark.point)));
      mark.element.style.transform = `translate(${((x / w) * 0.5 + 0.5) * clientWidth}px, ${(0.5 - (y / w) * 0.5) * clientHeight}px)`;
      const value = this.start[mark.name], text = `${mark.name} = ${angle(value, this.units[mark.name])}`;
      mark.element.firstChild.textContent = text;
      mark.element.setAttribute("aria-valuenow", short(value));
      mark.element.setAttribute("aria-valuetext", text);
    }
  }

  // Pixels that a point moves on the screen per unit of its coordinate.
  reach(mark) {
    const { stage } = this.theatre, { clientWidth, clientHeight } = stage.canvas, camera = stage.camera.matrix();
    const [p, q] = stage.motion.pose(mark.body, stage.motion.first), from = add(p, rotate(q, mark.point));
    const step = 1e-3, way = rotate(stage.motion.upright, mark.move).map((x) => x * step);
    const screen = (point) => { const [x, y, , w] = project(camera, point); return [(x / w) * 0.5 * clientWidth, (-y / w) * 0.5 * clientHeight]; };
    const [a, b] = [screen(from), screen(add(from, way))];
    return [(b[0] - a[0]) / step, (b[1] - a[1]) / step];
  }

  take(event, name) {
    if (event.button !== 0) return;
    event.preventDefault();
    const mark = this.marks.get(name), { element } = mark;
    element.focus({ preventScroll: true });
    element.setPointerCapture(event.pointerId);
    element.classList.add("held");
    this.store.set({ playing: false, time: this.theatre.stage.motion.first });
    this.held(true);
    let value = this.start[name], before = [event.clientX, event.clientY];
    const move = ({ clientX, clientY }) => {
      const [rx, ry] = this.reach(mark), long = rx * rx + ry * ry;
      if (long < SMALLEST_REACH ** 2) return;
      value += ((clientX - before[0]) * rx + (clientY - before[1]) * ry) / long;
      before = [clientX, clientY];
      this.changed(name, value);
    };
    const end = () => {
      element.classList.remove("held");
      element.removeEventListener("pointermove", move);
      this.held(false);
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("lostpointercapture", end, { once: true });
  }

  key(event, name) {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (event.key === "Escape") this.changed(name, undefined);
    if (!way) return;
    event.preventDefault();
    this.store.set({ playing: false, time: this.theatre.stage.motion.first });
    this.start[name] += way * (this.units[name] === "rad" ? Math.PI / 90 : this.theatre.stage.camera.size / 50) * (event.shiftKey ? 0.1 : 1);
    this.changed(name, this.start[name]);
  }
}

const angle = (value, unit) => (unit === "rad" ? `${short((value * 180) / Math.PI)}°` : `${short(value)} ${unit}`);
