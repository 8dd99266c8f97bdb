// The studio: keeps what is written and chosen, asks the workers, and shows what they answer.
import { NOTHING, Store } from "../../report/js/store.js";
import { save } from "../../report/js/plot_export.js";
import { bindTheme } from "../../report/js/theme.js";
import { askUser, bindMenu, bindShelf, bindSplitters, bindTabs, bindType } from "./bench.js";
import { Curves } from "./curves.js";
import { Desk } from "./desk.js";
import { Draft } from "./draft.js";
import { Editor } from "./editor.js";
import { Line } from "./line.js";
import { Reading } from "./reading.js";
import { Show } from "./show.js";
import { Sliders } from "./sliders.js";
import { Status } from "./status.js";

const at = (id) => document.getElementById(id);
const SETTLE_MS = 120; // after an edit, before its motion is compiled
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
    bindTheme(() => this.show.repaint());
    bindType(at("larger"));
    bindSplitters(document.querySelector(".bench"));
    bindTabs(document.querySelector(".tabs"), (id) => { this.tab = id; if (id === "tab-loops") this.examineSoon(0); });
    for (const name of ["formalism", "level", "criterion"]) {
      at(name).addEventListener("change", () => this.chose(name, at(name).value));
    }
    at("until").addEventListener("change", () => this.lengthened());
    at("reset-values").addEventListener("click", (event) => this.release(event, "values"));
    at("reset-start").addEventListener("click", (event) => this.release(event, "initial"));
    at("save").addEventListener("click", () => this.save());
    addEventListener("keydown", (event) => {
      if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.save(); }
    });
    document.querySelectorAll(".part > summary label").forEach((label) => label.addEventListener("click", (event) => event.stopPropagation()));
  }

  get state() { return this.draft.state; }

  // What a question carries: everything its answer depends on.
  question(kind) {
    const { text, values, initial, until, formalism, level, criterion } = this.state;
    if (kind === "describe") return { text, values, formalism, level };
    if (kind === "move") return { text, values, initial, until, known: this.show.shapes };
    const what = this.tab === "tab-loops" ? "loops" : "";
    return { text, values, initial, until, criterion, what };
  }

  // --- what the user does

  edited(text) {
    this.change({ text });
    this.describe();
  }

  describe() {
    clearTimeout(this.settling);
    clearTimeout(this.resting);
    this.asked = performance.now();
    this.desk.insist("describe");
    this.status.busy(true);
  }

  // A parameter or a start value moves; undefined gives it back to the text.
  valued(kind, name, value) {
    const changed = { ...this.state[kind], ...(kind === "initial" && value !== undefined ? this.posture(name) : {}) };
    delete changed[name];
    if (value !== undefined) changed[name] = value; // last, which tells that it was set last
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

  release(event, kind) {
    event.preventDefault();
    this.change({ [kind]: {} });
    this.showSliders();
    this.desk.want("move");
  }

  chose(name, value) {
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
    if (!this.file) return this.take("text");
    this.line.send("keep", { state: this.state });
    this.line.send("save", { overwrite });
  }

  take(what, detail = "") {
    this.status.say(`making the ${what}...`);
    this.line.send("export", { ...this.question("examine"), formalism: this.state.formalism, what, detail });
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
    if (word !== "open") { this.desk?.forget(); this.keeping = false; }
  }

  hear(message) {
    const act = this[`hear_${message.kind}`];
    if (act) act.call(this, message);
    else console.warn("unknown message", message.kind);
  }

  hear_hello(message) {
    const { state, file, saved, recovered } = message;
    this.file = file;
    this.offer(message);
    const newer = this.draft.greet(file, state);
    if (newer) this.keepSoon();
    this.editor.replace(this.state.text);
    this.status.file(file, saved && !newer);
    at("save").textContent = file ? "Save" : "Save as";
    at("until").value = this.state.until;
    if (recovered) this.status.notice("Changes that were never saved to the file have been brought back.", { "Drop them": () => this.line.send("reread") });
    this.shown.text = null;
    this.show.shapes = "";
    this.desk.forget();
    this.describe();
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

  hear_faults({ number, faults }) {
    if (!this.desk.isCurrent("describe", number)) return;
    this.editor.mark(faults);
    this.faulty = faults.length > 0;
    if (!this.faulty) return;
    this.equations.stale();
    this.status.busy(false);
    this.status.say("the picture shows the last text without faults");
  }

  hear_outline(message) {
    if (!this.desk.isCurrent("describe", message.number)) return;
    this.draft.settle(this.outline, message);
    this.outline = message;
    at("title").textContent = message.title;
    document.title = `${message.title} – torseur studio`;
    at("summary").textContent = message.summary.join(" · ");
    this.graph.show(message.graph);
    this.showSliders();
    at("formalism").value = this.state.formalism;
    at("level").value = this.state.level;
    this.showCriteria(message.criteria);
    at("tab-loops").textContent = message.loops ? `Loops (${message.loops})` : "Loops";
  }

  showCriteria(names) {
    const option = (value) => Object.assign(document.createElement("option"), { value, textContent: value.replaceAll("_", " ") });
    at("criterion").replaceChildren(...names.map(option));
    if (!names.includes(this.state.criterion)) this.change({ criterion: names[0] });
    at("criterion").value = this.state.criterion;
  }

  showSliders() {
    if (!this.outline) return;
    const { values, initial } = this.state;
    this.parameters.show(this.outline.parameters, values, this.outline.following);
    this.start.show(this.outline.start, initial);
    at("reset-values").hidden = !Object.keys(values).length;
    at("reset-start").hidden = !Object.keys(initial).length;
  }

  hear_equations({ number, html, reason, copies }) {
    if (!this.desk.isCurrent("describe", number)) return;
    this.equations.show(html, reason, copies);
    this.status.say(`equations in ${Math.round(performance.now() - this.asked)} ms`);
    this.settling = setTimeout(() => { if (this.shown.text !== this.state.text) this.desk.insist("move"); }, SETTLE_MS);
  }

  hear_motion(message) {
    if (!this.desk.isAbout(this.state.text, message.number)) return;
    const fresh = this.shown.text !== this.state.text;
    if (fresh && !message.scene && !this.show.theatre) return;
    this.show.present(message, this.outline?.start ?? [], fresh && message.scene);
    this.shown.text = this.state.text;
    at("notes").textContent = message.notes.join(" ");
    this.settleStart(message.start);
    if (!message.moving) return;
    this.curves.show(message.plots, message.arrays);
    if (this.moved) this.status.say(`motion in ${Math.round(performance.now() - this.moved)} ms`);
    this.moved = 0;
    this.examineAfter();
  }

  // Where the motion really starts: in a closed mechanism the coordinates have been brought together.
  settleStart(start) {
    const { initial } = this.state, moved = Object.keys(initial).some((name) => name in start && start[name] !== initial[name]);
    if (this.outline?.closed && moved && !this.desk.waiting.has("move")) {
      this.change({ initial: Object.fromEntries(Object.entries(initial).map(([name, value]) => [name, start[name] ?? value])) });
    }
    for (const [name, value] of Object.entries(start)) this.start.put(name, value);
  }

  hear_slopes(message) {
    const { number, reason, html, plots, arrays } = message, root = at("slopes");
    if (!this.desk.isAbout(this.state.text, number)) return;
    if (reason) {
      this.slopes.clear();
      root.replaceChildren(Object.assign(document.createElement("p"), { className: "reason", textContent: reason }));
      return;
    }
    if (!this.table?.isConnected) {
      this.table = document.createElement("div");
      root.replaceChildren(this.slopes.root, this.table);
    }
    this.table.innerHTML = html;
    this.slopes.show(plots, arrays);
  }

  hear_loops({ number, html, reason }) {
    if (this.desk.isAbout(this.state.text, number)) this.loops.show(html, reason);
  }

  hear_halt({ reason }) {
    this.status.say(reason);
    this.show.say(reason);
  }

  hear_done({ number }) {
    if (number === this.desk.latest.examine) this.shown.sensitivities = performance.now() - this.examined;
    this.desk.done(number);
    this.status.busy(this.desk.isBusy);
  }

  hear_file({ name, type, body }) {
    save(new Blob([body], { type }), name);
    this.status.say(`${name}, ${Math.ceil(body.byteLength / 1000)} kB`);
  }

  hear_opened({ text, name }) {
    this.draft.change({ values: {}, initial: {}, name });
    this.editor.replace(text, true);
    if (this.state.text !== text) this.edited(text);
  }

  hear_kept({ saved, revision }) {
    this.keeping = false;
    this.status.file(this.file, saved);
    this.draft.kept(revision);
    if (revision < this.state.revision) this.keepSoon();
  }

  hear_saved() {
    this.status.file(this.file, true);
    this.status.notice("");
    this.status.say(`saved to ${this.file}`);
  }

  async hear_conflict({ reason }) {
    if (await askUser(at("question"), `${reason} Replace it with the text of this page?`, "Replace")) this.line.send("save", { overwrite: true });
  }

  hear_refusal({ reason }) { this.status.notice(reason); this.status.say(""); }
}

window.studio = new Studio();
