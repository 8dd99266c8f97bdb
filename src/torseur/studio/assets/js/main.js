// The studio: keeps what is written and chosen, asks the workers, and shows what they answer.
import { NOTHING, Store } from "../../report/js/store.js";
import { fileName, save } from "../../report/js/plot_export.js";
import { bindTheme } from "../../report/js/theme.js";
import { bindMenu, bindShelf, bindSplitters, bindTabs, bindType } from "./bench.js";
import { Curves } from "./curves.js";
import { Desk } from "./desk.js";
import { Draft } from "./draft.js";
import { Editor } from "./editor.js";
import { hearing } from "./hearing.js";
import { Line } from "./line.js";
import { Reading } from "./reading.js";
import { Show } from "./show.js";
import { Sliders } from "./sliders.js";
import { Status } from "./status.js";

const at = (id) => document.getElementById(id);
const REST_MS = 350; // after a motion, before what is slow is asked for
const PROMPT_MS = 400; // an examination this quick keeps up with the sliders,
const PACE_MS = 160; // at this pace

class Studio {
  constructor() {
    this.store = new Store({ time: 0, playing: false, pointed: NOTHING, span: null, trace: 0 });
    this.draft = new Draft();
    this.status = new Status(at("status"), at("notice"));
    this.editor = new Editor(document.querySelector(".editor"), at("faults"), (text) => this.edited(text));
    this.parameters = new Sliders(at("parameters"), this.store, (name, value) => this.valued("values", name, value));
    this.start = new Sliders(at("start"), this.store, (name, value) => this.valued("initial", name, value));
    this.show = new Show(this.store, (name, value) => this.valued("initial", name, value));
    this.curves = new Curves(at("curves"), this.store);
    this.slopes = new Curves(document.createElement("div"), this.store);
    this.equations = new Reading(at("panel-equations"), this.store);
    this.graph = new Reading(at("panel-graph"), this.store);
    this.loops = new Reading(at("panel-loops"), this.store);
    this.line = new Line((message) => this.hear(message), (word) => this.connection(word));
    this.desk = new Desk(this.line, (kind) => this.question(kind));
    this.tab = "tab-equations";
    this.shown = { text: null, sensitivities: 0 };
    this.examined = 0;
    this.bind();
  }

  bind() {
    bindTheme(() => { rememberTheme(); this.show.repaint(); });
    bindType(at("larger"));
    bindSplitters(document.querySelector(".bench"));
    bindTabs(document.querySelector(".tab-list"), (id) => { this.tab = id; if (id === "tab-loops") this.examineSoon(0); });
    for (const name of ["formalism", "level", "criterion"]) {
      at(name).addEventListener("change", () => this.chose(name, at(name).value));
    }
    at("until").addEventListener("change", () => this.lengthened());
    at("reset-values").addEventListener("click", () => this.release("values"));
    at("reset-start").addEventListener("click", () => this.release("initial"));
    document.querySelectorAll(".write").forEach((button) => button.addEventListener("click", () => this.inscribe()));
    at("save").addEventListener("click", () => this.save());
    addEventListener("keydown", (event) => {
      if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.save(); }
    });
  }

  get state() { return this.draft.state; }

  // What a question carries: everything its answer depends on. Motions are those of the last text without faults.
  question(kind) {
    const { text, values, initial, until, formalism, level, criterion } = this.state;
    if (kind === "describe") return { text, formalism, level };
    const moved = { text: this.good ?? text, values, initial, until };
    if (kind === "move") return { ...moved, known: this.show.shapes };
    return { ...moved, criterion, what: this.tab === "tab-loops" ? "loops" : "" };
  }

  // --- what the user does

  edited(text) {
    this.change({ text });
    this.describe();
    this.asked = performance.now();
  }

  describe() {
    [this.settling, this.resting, this.overdue].forEach(clearTimeout);
    this.asked = 0;
    this.desk.insist("describe");
    this.status.busy(true);
  }

  // A parameter or a start value moves; undefined gives it back to the text.
  valued(kind, name, value) {
    const before = { ...this.state[kind], ...(kind === "initial" && value !== undefined ? this.posture(name) : {}) };
    const others = Object.entries(before).filter(([other]) => other !== name); // entries: a name may be __proto__
    const changed = Object.fromEntries(value === undefined ? others : [...others, [name, value]]); // last: it was set last
    this.change({ [kind]: value === undefined && kind === "initial" && this.outline.closed ? {} : changed });
    if (kind === "initial") this.store.set({ playing: false, time: this.show.stage?.motion.first ?? 0 });
    this.showSliders();
    this.moved = performance.now();
    this.desk.want("move");
  }

  // In a closed mechanism all coordinates follow the one that is moved, from where they are.
  posture(name) {
    if (!this.outline?.closed || !this.outline.coordinates.includes(name)) return {};
    return Object.fromEntries(this.outline.coordinates.map((one) => [one, this.show.handles.start[one] ?? 0]));
  }

  release(kind) {
    this.change({ [kind]: {} });
    this.showSliders();
    this.desk.want("move");
  }

  // Write the values of the sliders into the text.
  inscribe() {
    const { text, values, initial } = this.state;
    this.line.send("inscribe", { text, values, initial });
  }

  chose(name, value) {
    if (!value) { at(name).value = this.state[name]; return; }
    this.change({ [name]: value });
    if (name === "criterion") this.examineSoon(0);
    else this.describe();
  }

  lengthened() {
    const until = at("until").valueAsNumber;
    if (!(until > 0 && until <= 3600)) { at("until").value = this.state.until; return; }
    this.change({ until });
    this.store.set({ span: null });
    this.desk.want("move");
  }

  change(changes) {
    this.draft.change(changes);
    this.keepSoon();
  }

  // The server keeps the state on disk; one message at a time, always the newest.
  keepSoon() {
    if (this.keeping || !this.line.isOpen) return;
    this.keeping = true;
    this.line.send("keep", { state: this.state });
  }

  async save(overwrite = false) {
    if (!this.file) return save(new Blob([this.state.text], { type: "text/plain" }), fileName(this.outline?.name ?? "mechanism", ".lsd"));
    this.line.send("keep", { state: this.state });
    this.line.send("save", { overwrite });
  }

  take(what, detail = "") {
    this.status.say(`making the ${what}...`);
    const { text, formalism } = this.state;
    this.line.send("export", { ...this.question("examine"), text, formalism, what, detail });
  }

  open(use) {
    this.line.send("open", { what: use });
  }

  // While sliders move, a quick examination follows now and then, a slow one when they rest.
  examineAfter() {
    if (this.shown.sensitivities > PROMPT_MS) this.examineSoon(REST_MS);
    else if (performance.now() - this.examined > PACE_MS) this.examineSoon(0);
    else this.examineSoon(PACE_MS);
  }

  examineSoon(delay) {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => { this.examined = performance.now(); this.desk.want("examine"); }, delay);
  }

  // --- what the server says

  connection(word) {
    this.status.connection(word);
    document.querySelector(".bench").inert = word === "taken over"; // another page writes now
    if (word !== "open") { this.desk?.forget(); this.keeping = false; }
  }

  hear(message) {
    const act = hearing[message.kind];
    if (act) act(this, message);
    else console.warn("unknown message", message.kind);
  }

  showSliders() {
    if (!this.outline) return;
    const { values, initial } = this.state;
    this.parameters.show(this.outline.parameters, values, this.outline.following);
    this.start.show(this.outline.start, initial);
    const changed = { values: Object.keys(values).length > 0, start: Object.keys(initial).length > 0 };
    for (const [part, any] of Object.entries(changed)) document.querySelectorAll(`.of-${part}`).forEach((button) => { button.hidden = !any; });
  }

  // Where the motion really starts: in a closed mechanism the coordinates have been brought together.
  settleStart(start) {
    const { initial } = this.state, moved = Object.keys(initial).some((name) => Object.hasOwn(start, name) && start[name] !== initial[name]);
    if (this.outline?.closed && moved && !this.desk.waiting.has("move")) {
      this.change({ initial: Object.fromEntries(Object.entries(initial).map(([name, value]) => [name, start[name] ?? value])) });
    }
    for (const [name, value] of Object.entries(start)) this.start.put(name, value);
  }

  // What the sensitivities are of; a formula that somebody wrote stays, a name that is gone does not.
  showCriteria(names) {
    at("criteria").replaceChildren(...names.map((value) => Object.assign(document.createElement("option"), { value })));
    const { criterion } = this.state, gone = /^[\w']*$/.test(criterion) && !names.includes(criterion);
    if (gone && names.length) this.change({ criterion: names[0] });
    at("criterion").value = this.state.criterion;
  }

  offer({ formalisms, levels, library, targets, words }) {
    this.editor.knows(words);
    const option = (value) => Object.assign(document.createElement("option"), { value, textContent: value.replaceAll("_", " ") });
    at("formalism").replaceChildren(...formalisms.map(option));
    at("level").replaceChildren(...levels.map(option));
    bindShelf(at("library"), at("shelf"), library, (use) => this.open(use));
    bindMenu(at("export"), at("exports"), [
      { text: "Report", detail: "one page with everything, as HTML", act: () => this.take("report") },
      { text: "Study", detail: "the text and a file for torseur sweep", act: () => this.take("study") },
      { text: "Text", detail: "the description, values of the sliders included", act: () => this.take("text") },
      ...targets.map((target) => ({ text: `Code: ${target}`, act: () => this.take("code", target) })),
    ]);
  }
}

// The theme that a button chose is there again on the next visit.
function rememberTheme() {
  const { theme } = document.documentElement.dataset;
  if (theme) localStorage.setItem("theme", theme);
}

document.documentElement.dataset.theme = localStorage.getItem("theme") ?? "";
window.studio = new Studio();
