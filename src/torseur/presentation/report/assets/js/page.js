// The page: reads its data, makes the store and the views, and ties together theme, folding, copying and print.
/** @import { PageData } from "./data.js" */
/** @import { Theatre } from "./scene/theatre.js" */
import { all, byId, make, targetOf } from "./shared/elements.js";
import { courseOf } from "./numbers/decode.js";
import { NOTHING, Store } from "./shared/store.js";
import { Plot } from "./plot/plot.js";
import { bindHighlight, hideTip } from "./formulas/highlight.js";
import { bindCopying } from "./shared/copying.js";
import { Folding } from "./formulas/folding.js";
import { bindTheme } from "./shared/theme.js";
import { DRAWN_PATHS } from "./scene/stage.js";
import { bindStage } from "./scene/theatre.js";
import { bindBranches } from "./scene/branches.js";

// One level of detail at a time, or all of them.
function bindLevels() {
  const [bar] = all(document, ".levels");
  if (!bar) return;
  bar.hidden = false;
  /** @param {string} level */
  const show = (level) => {
    all(bar, "button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.level === level)));
    all(document, ".block[data-level]", HTMLDetailsElement).forEach((card) => {
      card.hidden = level !== "" && card.dataset.level !== level;
      if (card.dataset.level === level) card.open = true;
    });
  };
  bar.addEventListener("click", (event) => {
    const level = targetOf(event).getAttribute("data-level");
    if (level !== null) show(level);
  });
}

/** For print: everything unfolded, light colours, plots as wide as the paper, the animation as a still picture. @param {Theatre | null} views @param {Plot[]} plots @param {() => void} repaint */
function bindPrint(views, plots, repaint) {
  const root = document.documentElement;
  /** @type {(() => void)[]} */
  let undo = [];
  addEventListener("beforeprint", () => {
    hideTip();
    undo = [lighten(root, repaint), unfold(), widen(root, plots), ...(views ? [freeze(views.scene)] : [])];
  });
  addEventListener("afterprint", () => {
    undo.forEach((act) => act());
    undo = [];
  });
}

/** Each of these changes the page for print and returns what changes it back. @param {HTMLElement} root @param {() => void} repaint */
function lighten(root, repaint) {
  const { theme } = root.dataset;
  root.dataset.theme = "light";
  repaint();
  return () => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    repaint();
  };
}

function unfold() {
  const closed = all(document, "details:not([open])", HTMLDetailsElement);
  closed.forEach((details) => { details.open = true; });
  return () => closed.forEach((details) => { details.open = false; });
}

/** @param {HTMLElement} root @param {Plot[]} plots */
function widen(root, plots) {
  root.classList.add("printing");
  plots.forEach((plot) => plot.resize());
  return () => {
    root.classList.remove("printing");
    plots.forEach((plot) => plot.resize());
  };
}

/** @param {Theatre["scene"]} scene */
function freeze(scene) {
  const still = make("img", { src: scene.still(), className: "still", alt: "The mechanism" });
  scene.canvas.after(still);
  return () => still.remove();
}

function start() {
  /** @type {PageData} */
  const data = JSON.parse(byId("data").textContent ?? "");
  const store = new Store({ time: data.view.start, playing: false, pointed: NOTHING, span: null, trace: data.view.traces.some((one) => one.shown) ? DRAWN_PATHS : 0 });
  const views = bindStage(data, store);
  const plots = all(document, ".plot").map((element) => new Plot(element, data.plots[Number(element.dataset.plot)], store));
  const repaint = () => {
    views?.stage.readColours();
    views?.scene.refresh();
  };
  const samples = data.terms.map((packed) => (packed ? courseOf(packed) : null));
  bindHighlight(store, samples, views?.stage.motion.times ?? null);
  if (views) bindBranches(document, data.branches, views);
  bindTheme(repaint);
  const folding = new Folding(document.body, store);
  bindLevels();
  bindCopying(data.copies);
  bindPrint(views, plots, repaint);
  window.report = { store, plots, folding, ...views };
}

start();
