// The studio: keeps what is written and chosen, asks the workers, and shows what they answer.
/** @import { Answer, Kind, Limits, Numbers, Offer, Outline, Question, QuestionKind, State } from "./messages.js" */
/** @import { Connection } from "./conversation/line.js" */
import { all, byId, first, make } from "../../../report/assets/js/shared/elements.js";
import { NOTHING, Store } from "../../../report/assets/js/shared/store.js";
import { fileName, save } from "../../../report/assets/js/plot/plot_export.js";
import { bindTheme } from "../../../report/assets/js/shared/theme.js";
import { bindMenu, bindShelf, bindSplitters, bindTabs, bindType } from "./panels/bench.js";
import { Curves } from "./panels/curves.js";
import { Desk } from "./conversation/desk.js";
import { Draft } from "./conversation/draft.js";
import { Editor } from "./editor/editor.js";
import { hearing } from "./hearing.js";
import { Line } from "./conversation/line.js";
import { Reading } from "./panels/reading.js";
import { Show } from "./panels/show.js";
import { Sliders } from "./panels/sliders.js";
import { Status } from "./panels/status.js";
import { memory } from "./conversation/memory.js";

const REST_MS = 350; // after a motion, before what is slow is asked for
const PROMPT_MS = 400; // an examination this quick keeps up with the sliders,
const PACE_MS = 160; // at this pace

export class Studio {
  constructor() {
    this.store = new Store({ time: 0, playing: false, pointed: NOTHING, span: null, trace: 0 });
    this.draft = new Draft();
    this.status = new Status(byId("status"), byId("notice"));
    this.editor = new Editor(first(document, ".editor"), byId("faults"), (text) => this.editText(text));
    this.until = byId("until", HTMLInputElement);
    this.choices = { formalism: byId("formalism", HTMLSelectElement), level: byId("level", HTMLSelectElement), criterion: byId("criterion", HTMLInputElement) };
    this.asks = { outputs: byId("outputs", HTMLInputElement), over: byId("over", HTMLInputElement), arrows: byId("arrows", HTMLSelectElement), suspension: byId("suspension", HTMLInputElement) };
    this.parameters = new Sliders(byId("parameters"), (name, value) => this.setValue("values", name, value));
    this.start = new Sliders(byId("start"), (name, value) => this.setValue("initial", name, value));
    this.show = new Show(this.store, (name, value) => this.setValue("initial", name, value));
    this.curves = new Curves(byId("curves"), this.store);
    this.derivatives = new Curves(make("div"), this.store);
    this.equations = new Reading(byId("panel-equations"), this.store);
    this.graph = new Reading(byId("panel-graph"), this.store);
    this.loops = new Reading(byId("panel-loops"), this.store);
    this.line = new Line((message) => this.hear(message), (word) => this.connection(word));
    this.desk = new Desk(this.line, (kind) => this.question(kind));
    this.tab = "tab-equations";
    /** What the panels show: the text of the motion, and how long the last sensitivities took, in ms. @type {{ text: string | null, sensitivities: number }} */
    this.shown = { text: null, sensitivities: 0 };
    /** The last text without faults, and what it describes. @type {string | undefined} */
    this.good = undefined;
    /** @type {Outline | null} */
    this.outline = null;
    this.faulty = false;
    this.file = "";
    /** The table of sensitivities. @type {HTMLElement | null} */
    this.table = null;
    // When the present equations, motion and sensitivities were asked for; 0 where nobody waits for them.
    this.askedAt = this.movedAt = this.examinedAt = 0;
    this.keeping = this.unkept = false; // whether the server is keeping the state, and whether it could not
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.settling = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.resting = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.overdue = undefined;
    this.bind();
  }

  bind() {
    bindTheme(() => { rememberTheme(); this.show.repaint(); });
    bindType(byId("larger"));
    bindSplitters(first(document, ".bench"));
    bindTabs(first(document, ".tab-list"), (id) => { this.tab = id; if (id === "tab-loops") this.examineSoon(0); });
    for (const name of /** @type {const} */ (["formalism", "level", "criterion"])) {
      this.choices[name].addEventListener("change", () => this.choose(name, this.choices[name].value));
    }
    for (const name of /** @type {const} */ (["outputs", "over", "arrows", "suspension"])) this.asks[name].addEventListener("change", () => this.ask(name));
    this.until.addEventListener("change", () => this.setLength());
    byId("reset-values").addEventListener("click", () => this.release("values"));
    byId("reset-start").addEventListener("click", () => this.release("initial"));
    all(document, ".write").forEach((button) => button.addEventListener("click", () => this.inscribe()));
    byId("save").addEventListener("click", () => this.save());
    addEventListener("keydown", (event) => {
      if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.save(); }
    });
  }

  get state() { return this.draft.state; }

  /** What a question carries: everything its answer depends on. Motions are those of the last text without faults. @param {QuestionKind} kind @returns {Question} */
  question(kind) {
    const { text, values, initial, until, formalism, level, criterion, outputs, over, arrows, suspension } = this.state;
    if (kind === "describe") return { text, formalism, level, criterion };
    const moved = { text: this.good ?? text, values, initial, until, outputs, over };
    if (kind === "move") return { ...moved, arrows, known: this.show.shapes };
    if (kind === "survey") return { ...moved, suspension };
    return { ...moved, criterion, what: this.tab === "tab-loops" ? "loops" : "" };
  }

  // --- what the user does

  /** @param {string} text */
  editText(text) {
    this.change({ text });
    this.describe();
    this.askedAt = performance.now();
  }

  describe() {
    [this.settling, this.resting, this.overdue].forEach((timer) => clearTimeout(timer));
    this.askedAt = 0;
    this.desk.insist("describe");
    this.status.busy(true);
  }

  /** A parameter or a start value moves; undefined gives it back to the text. @param {"values" | "initial"} kind @param {string} name @param {number} [value] */
  setValue(kind, name, value) {
    const before = { ...this.state[kind], ...(kind === "initial" && value !== undefined ? this.posture(name) : {}) };
    const others = Object.entries(before).filter(([other]) => other !== name); // entries: a name may be __proto__
    /** @type {Numbers} */
    const changed = Object.fromEntries(value === undefined ? others : [...others, [name, value]]); // last: it was set last
    this.change({ [kind]: value === undefined && kind === "initial" && this.outline?.closed ? {} : changed });
    if (kind === "initial") this.store.set({ playing: false, time: this.show.stage?.motion.first ?? 0 });
    this.showSliders();
    this.movedAt = performance.now();
    this.desk.want("move");
    if (kind === "values") this.survey();
  }

  /** In a closed mechanism all coordinates follow the one that is moved, from where they are. @param {string} name @returns {Numbers} */
  posture(name) {
    if (!this.outline?.closed || !this.outline.coordinates.includes(name)) return {};
    return Object.fromEntries(this.outline.coordinates.map((one) => [one, this.show.handles.start[one] ?? 0]));
  }

  /** @param {"values" | "initial"} kind */
  release(kind) {
    this.change({ [kind]: {} });
    this.showSliders();
    this.desk.want("move");
    this.survey();
  }

  // Write the values of the sliders into the text.
  inscribe() {
    const { text, values, initial } = this.state;
    this.line.send("inscribe", { text, values, initial });
  }

  /** @param {"formalism" | "level" | "criterion"} name @param {string} value */
  choose(name, value) {
    if (!value) { this.choices[name].value = this.state[name]; return; }
    this.change({ [name]: value });
    if (name === "criterion") this.examineSoon(0);
    this.describe(); // the criterion is that of the sensitivity systems among the equations, too
  }

  /** Plot other quantities, or over another one, draw other arrows, or curves of a suspension. @param {"outputs" | "over" | "arrows" | "suspension"} name */
  ask(name) {
    this.change({ [name]: this.asks[name].value.trim() });
    if (name === "suspension") this.survey();
    else this.desk.want("move");
  }

  // Curves of the suspension that is looked at, which need no motion.
  survey() {
    if (this.state.suspension) this.desk.want("survey");
    else byId("suspension-curves").replaceChildren();
  }

  setLength() {
    const until = this.until.valueAsNumber;
    if (!(until > 0 && until <= 3600)) { this.until.value = String(this.state.until); return; }
    this.change({ until });
    this.store.set({ span: null });
    this.desk.want("move");
  }

  /** @param {Partial<State>} changes */
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

  /** Ask for a file. @param {string} what @param {string} [detail] */
  take(what, detail = "") {
    this.status.say(`making the ${what}...`);
    const { text, formalism } = this.state;
    this.line.send("export", { ...this.question("examine"), text, formalism, what, detail });
  }

  /** @param {string} use the name of a mechanism of the library */
  open(use) {
    this.line.send("open", { what: use });
  }

  // While sliders move, a quick examination follows now and then, a slow one when they rest.
  examineAfter() {
    if (this.shown.sensitivities > PROMPT_MS) this.examineSoon(REST_MS);
    else if (performance.now() - this.examinedAt > PACE_MS) this.examineSoon(0);
    else this.examineSoon(PACE_MS);
  }

  /** @param {number} delay in ms */
  examineSoon(delay) {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => { this.examinedAt = performance.now(); this.desk.want("examine"); }, delay);
  }

  // --- what the server says

  /** @param {Connection} word */
  connection(word) {
    this.status.connection(word);
    first(document, ".bench").inert = word === "taken over"; // another page writes now
    if (word !== "open") { this.desk?.forget(); this.keeping = false; }
  }

  /** @template {Kind} K @param {Answer<K>} message */
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
    for (const [part, any] of Object.entries(changed)) all(document, `.of-${part}`).forEach((button) => { button.hidden = !any; });
  }

  /** Limits of joints, of the robot file that the text came from. @param {Limits} limits */
  limit(limits) {
    this.start.limits = limits;
    this.show.handles.limits = limits;
    if (Object.keys(limits).length) byId("start-part", HTMLDetailsElement).open = true; // joints are what a robot is moved by
  }

  /** Where the motion really starts: in a closed mechanism the coordinates have been brought together. @param {Numbers} start */
  settleStart(start) {
    const { initial } = this.state, moved = Object.keys(initial).some((name) => Object.hasOwn(start, name) && start[name] !== initial[name]);
    if (this.outline?.closed && moved && !this.desk.waiting.has("move")) {
      this.change({ initial: Object.fromEntries(Object.entries(initial).map(([name, value]) => [name, Object.hasOwn(start, name) ? start[name] : value])) });
    }
    for (const [name, value] of Object.entries(start)) this.start.put(name, value);
  }

  /** What the sensitivities are of; a formula that somebody wrote stays, a name that is gone does not. @param {string[]} names */
  showCriteria(names) {
    byId("criteria").replaceChildren(...names.map((value) => make("option", { value })));
    const { criterion } = this.state, gone = /^[\w']*$/.test(criterion) && !names.includes(criterion);
    if (gone && names.length) this.change({ criterion: names[0] });
    this.choices.criterion.value = this.state.criterion;
  }

  /** @param {Offer} offer */
  offer({ formalisms, levels, library, targets, words }) {
    this.editor.knows(words);
    /** @param {string} value */
    const option = (value) => make("option", { value, textContent: formalisms[value] ?? value });
    this.choices.formalism.replaceChildren(...Object.keys(formalisms).map(option));
    this.choices.level.replaceChildren(...levels.map(option));
    bindShelf(byId("library"), byId("shelf", HTMLDialogElement), library, (use) => this.open(use));
    bindMenu(byId("export"), byId("exports"), [
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
  if (theme) memory.setItem("theme", theme);
}

document.documentElement.dataset.theme = memory.getItem("theme") ?? "";
window.studio = new Studio();
