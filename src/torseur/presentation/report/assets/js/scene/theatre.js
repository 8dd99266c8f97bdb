// The picture with everything around it: scene, camera by hand, points of view, what lies under the pointer.
/** @import { PackedMotion, SceneData } from "../data.js" */
/** @import { Store } from "../shared/store.js" */
/** The picture and what moves it: `home` frames it anew, `adjust` takes over another motion. @typedef {{ stage: Stage, scene: Scene | FlatScene, home: () => void, adjust: () => void }} Theatre */
import { NOTHING } from "../shared/store.js";
import { steer } from "./camera.js";
import { all, byId, first } from "../shared/elements.js";
import { hideTip, showTip } from "../formulas/highlight.js";
import { openContext } from "./renderer.js";
import { FlatScene } from "./flat_scene.js";
import { bindPlayer } from "./player.js";
import { Scene } from "./scene.js";
import { Stage } from "./stage.js";

/** @param {Stage} stage @param {HTMLCanvasElement} canvas */
function makeScene(stage, canvas) {
  const gl = openContext(canvas);
  if (!gl) return new FlatScene(stage);
  return new Scene(gl, stage);
}

/** Shows a mechanism and its motion; null where the page has no room for it. @param {SceneData & { motion: PackedMotion | null }} data @param {Store} store @returns {Theatre | null} */
export function bindStage({ motion, ...data }, store) {
  if (!motion || !document.getElementById("scene")) return null;
  const canvas = byId("scene", HTMLCanvasElement);
  canvas.hidden = false;
  document.querySelector(".poster")?.remove();
  const stage = new Stage({ ...data, motion }, store, canvas), scene = makeScene(stage, canvas);
  const home = () => { stage.steered = false; stage.camera.aspect = canvas.clientWidth / canvas.clientHeight || 1; stage.home(); scene.request(); };
  new ResizeObserver(() => { if (!stage.steered) home(); scene.request(); }).observe(canvas);
  const changed = () => { stage.steered = true; scene.request(); };
  steer(canvas, stage.camera, { changed, reset: home, hover: (event) => hoverBody(event, stage, store) });
  const marked = bindViews(stage, scene, home), adjust = document.getElementById("play") ? bindPlayer(store, () => stage.whole) : () => {};
  store.subscribe(["time"], () => stage.follow());
  store.subscribe(["time", "pointed", "trace"], () => scene.request());
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => location.reload());
  return { stage, scene, home: () => { home(); marked(); }, adjust };
}

/** @param {PointerEvent | null} event @param {Stage} stage @param {Store} store */
function hoverBody(event, stage, store) {
  const body = event ? stage.under(event) : null;
  const [before] = store.state.pointed.bodies;
  if (!event || body === null) {
    if (before !== undefined) store.set({ pointed: NOTHING });
    return hideTip();
  }
  if (body !== before) store.set({ pointed: { bodies: [body], joints: [] } });
  const { clientX, clientY } = event;
  showTip({ left: clientX + 12, bottom: clientY + 4, top: clientY }, stage.bodies[body].name);
}

/** @param {Stage} stage @param {Scene | FlatScene} scene @param {() => void} home */
function bindViews(stage, scene, home) {
  const views = first(document, ".views");
  views.hidden = false;
  all(views, "[data-view]").forEach((button) => button.addEventListener("click", () => {
    if (button.dataset.view === "home") return home();
    stage.steered = true;
    stage.lookFrom(button.dataset.view);
    scene.request();
  }));
  const follow = byId("follow"), mark = () => follow.setAttribute("aria-pressed", String(stage.following));
  follow.addEventListener("click", () => { stage.setFollowing(!stage.following); mark(); scene.request(); });
  mark();
  all(views, "[data-overlay]").forEach((button) => button.addEventListener("click", () => {
    const overlay = stage.overlays[Number(button.dataset.overlay)];
    if (!("shown" in overlay)) return;
    overlay.shown = !overlay.shown;
    button.setAttribute("aria-pressed", String(overlay.shown));
    scene.request();
  }));
  all(views, "[data-mark]").forEach((button) => button.addEventListener("click", () => {
    const name = button.dataset.mark ?? "", shown = !stage.marked.delete(name);
    if (shown) stage.marked.add(name);
    button.setAttribute("aria-pressed", String(shown));
    scene.request();
  }));
  const [trace] = all(document, "#trace", HTMLSelectElement);
  trace?.addEventListener("change", () => stage.store.set({ trace: Number(trace.value) }));
  return mark;
}
