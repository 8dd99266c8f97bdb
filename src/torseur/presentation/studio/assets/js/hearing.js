// What the studio does with each message of the server.
/** @import { Answer, Kind } from "./messages.js" */
/** @import { Studio } from "./main.js" */
import { byId, make } from "../../../report/assets/js/shared/elements.js";
import { save } from "../../../report/assets/js/plot/plot_export.js";
import { askUser } from "./panels/bench.js";

const RETRY_MS = 3000; // after the state could not be kept
const OVERDUE_MS = 400; // after which equations that are not there yet are said to be under way
const SETTLE_MS = 120; // after a text was understood, before its motion is compiled; short equations are there by then

/** @type {{ [K in Kind]: (studio: Studio, message: Answer<K>) => void }} */
export const hearing = {
  hello(studio, message) {
    const { state, file, saved, recovered } = message;
    studio.file = file;
    studio.limit(message.limits);
    studio.offer(message);
    const isNewer = studio.draft.greet(file, state);
    if (isNewer) studio.keepSoon();
    studio.editor.replace(studio.state.text);
    studio.status.file(file, saved && !isNewer);
    byId("save").textContent = file ? "Save" : "Save as";
    studio.until.value = String(studio.state.until);
    studio.asks.outputs.value = studio.state.outputs ?? "";
    studio.asks.over.value = studio.state.over ?? "";
    studio.asks.arrows.value = studio.state.arrows ?? "";
    studio.asks.suspension.value = studio.state.suspension ?? "";
    byId("suspension-part", HTMLDetailsElement).open = Boolean(studio.state.suspension);
    if (recovered) studio.status.notice(file ? "Changes that were never saved to the file have been brought back." : "Your changes of last time have been brought back.", { "Drop them": () => studio.line.send("reread") });
    studio.shown.text = null;
    studio.show.shapes = "";
    studio.desk.forget();
    studio.describe();
    if (!studio.outline) studio.status.say("starting");
  },

  faults(studio, { number, faults }) {
    if (!studio.desk.isCurrent("describe", number)) return;
    studio.editor.mark(faults);
    studio.faulty = faults.length > 0;
    if (!studio.faulty) return;
    studio.equations.stale();
    studio.status.busy(false);
    studio.status.say(faults.length === 1 ? "1 fault" : `${faults.length} faults`);
  },

  outline(studio, message) {
    if (!studio.desk.isCurrent("describe", message.number)) return;
    studio.draft.followText(studio.outline, message);
    studio.outline = message;
    studio.good = studio.state.text;
    byId("title").textContent = message.title;
    document.title = `${message.title} – torseur studio`;
    byId("summary").textContent = message.summary.join(" · ");
    studio.graph.show(message.graph);
    studio.editor.remark(message.warnings);
    studio.showSliders();
    studio.choices.formalism.value = studio.state.formalism;
    studio.choices.level.value = studio.state.level;
    studio.showCriteria(message.criteria);
    studio.survey();
    byId("tab-loops").textContent = message.loops ? `Loops (${message.loops})` : "Loops";
    clearTimeout(studio.overdue);
    studio.overdue = setTimeout(() => { studio.equations.stale(); studio.status.say("writing the equations..."); }, OVERDUE_MS);
    studio.settling = setTimeout(() => { if (studio.shown.text !== studio.good) studio.desk.insist("move"); }, SETTLE_MS);
  },

  equations(studio, { number, html, reason, copies }) {
    if (!studio.desk.isCurrent("describe", number)) return;
    clearTimeout(studio.overdue);
    studio.equations.show(html, reason, copies);
    studio.status.say(studio.askedAt ? `equations in ${Math.round(performance.now() - studio.askedAt)} ms` : "");
    studio.askedAt = 0;
  },

  definitions(studio, { number, rows, copies }) {
    if (studio.desk.isCurrent("describe", number)) studio.equations.define(rows, copies);
  },

  motion(studio, message) {
    if (!studio.desk.isAbout(studio.good, message.number)) return;
    const fresh = studio.shown.text !== studio.good;
    if (fresh && !message.scene && !studio.show.theatre) return;
    studio.show.present(message, studio.outline?.start ?? [], fresh && message.scene !== null);
    studio.shown.text = studio.good ?? null;
    byId("notes").textContent = message.notes.join(" ");
    studio.settleStart(message.start);
    if (!message.moving) return message.notes.length ? undefined : studio.status.say("computing the motion...");
    studio.curves.show(message.plots, message.arrays);
    byId("across").innerHTML = message.crossplots;
    if (studio.movedAt) studio.status.say(`motion in ${Math.round(performance.now() - studio.movedAt)} ms`);
    else studio.status.unsay("computing the motion...");
    studio.movedAt = 0;
    studio.examineAfter();
  },

  derivatives(studio, message) {
    const { number, reason, html, plots, arrays } = message, root = byId("derivatives");
    if (!studio.desk.isAbout(studio.good, number)) return;
    if (reason) {
      studio.derivatives.clear();
      root.replaceChildren(make("p", { className: "reason", textContent: reason }));
      return;
    }
    if (!studio.table?.isConnected) {
      studio.table = make("div");
      root.replaceChildren(studio.derivatives.root, studio.table);
    }
    studio.table.innerHTML = html;
    studio.derivatives.show(plots, arrays);
  },

  suspension(studio, { number, html, reason }) {
    if (!studio.desk.isAbout(studio.good, number)) return;
    if (reason) byId("suspension-curves").replaceChildren(make("p", { className: "reason", textContent: reason }));
    else byId("suspension-curves").innerHTML = html;
  },

  loops(studio, { number, html, reason, branches }) {
    if (!studio.desk.isAbout(studio.good, number)) return;
    studio.loops.show(html, reason);
    studio.show.offerBranches(studio.loops.panel, branches);
  },

  halt(studio, { reason }) {
    clearTimeout(studio.overdue);
    studio.status.say(reason);
    studio.show.say(reason);
  },

  done(studio, { number }) {
    if (number === studio.desk.latest.examine) studio.shown.sensitivities = performance.now() - studio.examinedAt;
    studio.desk.finish(number);
    studio.status.busy(studio.desk.isBusy);
  },

  file(studio, { name, type, body }) {
    save(new Blob([body], { type }), name);
    studio.status.say(`${name}, ${Math.ceil(body.byteLength / 1000)} kB`);
  },

  opened(studio, { text, name }) {
    studio.limit({});
    studio.draft.change({ values: {}, initial: {}, outputs: "", over: "", suspension: "", name });
    studio.asks.outputs.value = studio.asks.over.value = studio.asks.suspension.value = "";
    byId("suspension-curves").replaceChildren();
    studio.editor.replace(text, true);
    if (studio.state.text !== text) studio.editText(text);
  },

  inscribed(studio, { text }) {
    studio.change({ values: {}, initial: {} });
    studio.editor.replace(text, true);
    if (studio.state.text !== text) studio.editText(text);
  },

  kept(studio, { saved, revision }) {
    studio.keeping = false;
    if (studio.unkept) studio.status.notice("");
    studio.unkept = false;
    studio.status.file(studio.file, saved);
    studio.draft.confirm(revision);
    if (revision < studio.state.revision) studio.keepSoon();
  },

  // The disk is full, for one: this browser still holds everything, and it is tried again.
  unkept(studio, { reason }) {
    if (!studio.unkept) studio.status.notice(`${reason} What you write is kept in this browser only, until there is room.`);
    studio.unkept = true;
    setTimeout(() => { studio.keeping = false; studio.keepSoon(); }, RETRY_MS);
  },

  saved(studio) {
    studio.status.file(studio.file, true);
    studio.status.notice("");
    studio.status.say(`saved to ${studio.file}`);
  },

  async conflict(studio, { reason }) {
    if (await askUser(byId("question", HTMLDialogElement), `${reason} Replace it with the text of this page?`, "Replace")) studio.line.send("save", { overwrite: true });
  },

  refusal(studio, { reason }) {
    studio.status.notice(reason);
    studio.status.say("");
  },
};
