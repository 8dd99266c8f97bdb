// The page: reads its data, makes the store and the views, and ties together theme, folding, copying and print.
import { NOTHING, Store } from "./store.js";
import { steer } from "./camera.js";
import { Plot } from "./plot.js";
import { bindPlayer } from "./player.js";
import { bindHighlight, hideTip, showTip } from "./highlight.js";
import { openContext } from "./renderer.js";
import { FlatScene } from "./flat_scene.js";
import { Scene } from "./scene.js";
import { Stage } from "./stage.js";

function makeScene(stage, canvas) {
  const gl = openContext(canvas);
  if (!gl) return new FlatScene(stage);
  return new Scene(gl, stage);
}

function bindStage(data, store) {
  const canvas = document.getElementById("scene");
  if (!canvas) return null;
  canvas.hidden = false;
  document.querySelector(".poster")?.remove();
  const stage = new Stage(data, store, canvas), scene = makeScene(stage, canvas);
  const home = () => { stage.steered = false; stage.camera.aspect = canvas.clientWidth / canvas.clientHeight || 1; stage.home(); scene.request(); };
  new ResizeObserver(() => { if (!stage.steered) home(); scene.request(); }).observe(canvas);
  const changed = () => { stage.steered = true; scene.request(); };
  steer(canvas, stage.camera, { changed, reset: home, hover: (event) => hoverBody(event, stage, store) });
  bindViews(stage, scene, home);
  bindPlayer(store, stage.motion.first, stage.motion.last);
  store.subscribe(["time"], () => stage.follow());
  store.subscribe(["time", "pointed", "trace"], () => scene.request());
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => location.reload());
  return { stage, scene };
}

function hoverBody(event, stage, store) {
  const body = event ? stage.under(event) : null;
  const [before] = store.state.pointed.bodies;
  if (body === null) {
    if (before !== undefined) store.set({ pointed: NOTHING });
    return hideTip();
  }
  if (body !== before) store.set({ pointed: { bodies: [body], joints: [] } });
  const { clientX, clientY } = event;
  showTip({ left: clientX + 12, bottom: clientY + 4, top: clientY }, stage.bodies[body].name);
}

function bindViews(stage, scene, home) {
  const views = document.querySelector(".views");
  views.hidden = false;
  views.querySelectorAll("[data-view]").forEach((button) => button.addEventListener("click", () => {
    if (button.dataset.view === "home") return home();
    stage.steered = true;
    stage.lookFrom(button.dataset.view);
    scene.request();
  }));
  const follow = document.getElementById("follow"), mark = () => follow.setAttribute("aria-pressed", String(stage.following));
  follow.addEventListener("click", () => { stage.setFollowing(!stage.following); mark(); scene.request(); });
  mark();
  views.querySelectorAll("[data-overlay]").forEach((button) => button.addEventListener("click", () => {
    const overlay = stage.overlays[button.dataset.overlay];
    overlay.shown = !overlay.shown;
    button.setAttribute("aria-pressed", String(overlay.shown));
    scene.request();
  }));
  const trace = document.getElementById("trace");
  trace?.addEventListener("change", () => stage.store.set({ trace: Number(trace.value) }));
}

function bindTheme(repaint) {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
    root.dataset.theme = isDark ? "light" : "dark";
    repaint();
  });
  dark.addEventListener("change", repaint);
}

// Chips unfold an entry each; a term unfolds, or folds, what defines it.
function bindFolding() {
  const chips = new Map([...document.querySelectorAll(".chip[aria-controls]")].map((chip) => [chip.getAttribute("aria-controls"), chip]));
  const fold = (id, hidden) => {
    document.getElementById(id).hidden = hidden;
    chips.get(id).setAttribute("aria-expanded", String(!hidden));
  };
  chips.forEach((chip, id) => chip.addEventListener("click", () => fold(id, !document.getElementById(id).hidden)));
  document.querySelectorAll("[data-opens]").forEach((term) => {
    const ids = term.dataset.opens.split(" ");
    const toggle = () => { const all = ids.every((id) => !document.getElementById(id).hidden); ids.forEach((id) => fold(id, all)); };
    term.addEventListener("click", toggle);
    term.addEventListener("keydown", (event) => { if (event.key === "Enter") toggle(); });
  });
}

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

function bindCopying(copies) {
  document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", async (event) => {
    event.preventDefault();
    await copyText(copies[button.dataset.copy]);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1400);
  }));
}

// The clipboard may be closed to pages opened from a file: then a selection and the old command do.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
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
  plots.forEach((plot) => plot.draw());
  return () => {
    root.classList.remove("printing");
    plots.forEach((plot) => plot.draw());
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
  bindHighlight(store, data, views?.stage.motion.times ?? null);
  bindTheme(repaint);
  bindFolding();
  bindLevels();
  bindCopying(data.copies);
  bindPrint(views, plots, repaint);
  window.report = { store, plots, ...views };
}

start();
