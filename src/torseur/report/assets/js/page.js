// The page: reads its data, makes the store and the views, and ties together theme, folding, copying and print.
import { floatsOf } from "./decode.js";
import { NOTHING, Store } from "./store.js";
import { Plot } from "./plot.js";
import { bindHighlight, hideTip } from "./highlight.js";
import { bindCopying } from "./copying.js";
import { Folding } from "./folding.js";
import { bindTheme } from "./theme.js";
import { bindStage } from "./theatre.js";

// One level of detail at a time, or all of them.
function bindLevels() {
  const bar = document.querySelector(".levels");
  if (!bar) return;
  bar.hidden = false;
  const show = (level) => {
    bar.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.level === level)));
    document.querySelectorAll(".block[data-level]").forEach((card) => {
      card.hidden = level !== "" && card.dataset.level !== level;
      if (card.dataset.level === level) card.open = true;
    });
  };
  bar.addEventListener("click", (event) => { if (event.target.dataset.level !== undefined) show(event.target.dataset.level); });
}

// For print: everything unfolded, light colours, plots as wide as the paper, the animation as a still picture.
function bindPrint(views, plots, repaint) {
  const root = document.documentElement;
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

// Each of these changes the page for print and returns what changes it back.
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
  const closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((details) => { details.open = true; });
  return () => closed.forEach((details) => { details.open = false; });
}

function widen(root, plots) {
  root.classList.add("printing");
  plots.forEach((plot) => plot.resize());
  return () => {
    root.classList.remove("printing");
    plots.forEach((plot) => plot.resize());
  };
}

function freeze(scene) {
  const still = Object.assign(new Image(), { src: scene.still(), className: "still", alt: "The mechanism" });
  scene.canvas.after(still);
  return () => still.remove();
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const store = new Store({ time: data.view.start, playing: false, pointed: NOTHING, span: null, trace: 0 });
  const views = bindStage(data, store);
  const plots = [...document.querySelectorAll(".plot")].map((element) => new Plot(element, data.plots[element.dataset.plot], store));
  const repaint = () => {
    views?.stage.readColours();
    views?.scene.refresh();
  };
  const samples = data.terms.map((packed) => (packed ? floatsOf(packed) : null));
  bindHighlight(store, samples, views?.stage.motion.times ?? null);
  bindTheme(repaint);
  const folding = new Folding(document.body, store);
  bindLevels();
  bindCopying(data.copies);
  bindPrint(views, plots, repaint);
  window.report = { store, plots, folding, ...views };
}

start();
