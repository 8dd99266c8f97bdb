// The picture with everything around it: scene, camera by hand, points of view, what lies under the pointer.
import { NOTHING } from "./store.js";
import { steer } from "./camera.js";
import { hideTip, showTip } from "./highlight.js";
import { openContext } from "./renderer.js";
import { FlatScene } from "./flat_scene.js";
import { bindPlayer } from "./player.js";
import { Scene } from "./scene.js";
import { Stage } from "./stage.js";

function makeScene(stage, canvas) {
  const gl = openContext(canvas);
  if (!gl) return new FlatScene(stage);
  return new Scene(gl, stage);
}

// Shows a mechanism and its motion; null where the page has no room for it.
export function bindStage(data, store) {
  const canvas = document.getElementById("scene");
  if (!canvas) return null;
  canvas.hidden = false;
  document.querySelector(".poster")?.remove();
  const stage = new Stage(data, store, canvas), scene = makeScene(stage, canvas);
  const home = () => { stage.steered = false; stage.camera.aspect = canvas.clientWidth / canvas.clientHeight || 1; stage.home(); scene.request(); };
  new ResizeObserver(() => { if (!stage.steered) home(); scene.request(); }).observe(canvas);
  const changed = () => { stage.steered = true; scene.request(); };
  steer(canvas, stage.camera, { changed, reset: home, hover: (event) => hoverBody(event, stage, store) });
  const marked = bindViews(stage, scene, home), adjust = bindPlayer(store, () => stage.motion);
  store.subscribe(["time"], () => stage.follow());
  store.subscribe(["time", "pointed", "trace"], () => scene.request());
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => location.reload());
  return { stage, scene, home: () => { home(); marked(); }, adjust };
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
  return mark;
}
