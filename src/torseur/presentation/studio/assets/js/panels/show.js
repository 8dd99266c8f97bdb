// The mechanism in the picture: bodies, motion, handles, paths; kept from one motion to the next where nothing else changed.
/** @import { OverlayData, PackedMotion, SceneData } from "../../../../report/assets/js/data.js" */
/** @import { Stage } from "../../../../report/assets/js/scene/stage.js" */
/** @import { Store } from "../../../../report/assets/js/shared/store.js" */
/** @import { Theatre } from "../../../../report/assets/js/scene/theatre.js" */
/** @import { MotionAnswer, Quantity } from "../messages.js" */
import { byId, make } from "../../../../report/assets/js/shared/elements.js";
import { ALL_PATHS, DRAWN_PATHS, NO_PATH } from "../../../../report/assets/js/scene/stage.js";
import { bindBranches } from "../../../../report/assets/js/scene/branches.js";
import { bindStage } from "../../../../report/assets/js/scene/theatre.js";
import { Handles } from "./handles.js";

export class Show {
  /** @param {Store} store @param {(name: string, value?: number) => void} changed is called while a handle moves */
  constructor(store, changed) {
    this.store = store;
    this.blank = byId("blank");
    this.scales = byId("scales");
    this.trace = byId("trace", HTMLSelectElement);
    this.shapes = ""; // digest of the shapes that are shown
    this.isHeld = false;
    /** @type {Theatre | null} */
    this.theatre = null;
    /** Unties the buttons of branches. */
    this.leaveBranches = () => {};
    this.handles = new Handles(byId("handles"), store, { changed, hold: (isHeld) => { this.isHeld = isHeld; } });
    const grips = byId("grips");
    grips.addEventListener("click", () => {
      const shown = grips.getAttribute("aria-pressed") === "false";
      grips.setAttribute("aria-pressed", String(shown));
      this.handles.root.hidden = !shown;
    });
  }

  get stage() { return this.theatre?.stage; }

  /** A motion as the server sends it; `fresh` when it is the first one of a text. @param {MotionAnswer} answer @param {Quantity[]} quantities @param {boolean} fresh */
  present({ scene, shapes, poses, masses, overlays, arrays, handles, start }, quantities, fresh) {
    const motion = { ...poses, masses, overlays, times: arrays.times, poses: arrays.poses };
    this.shapes = shapes;
    if (this.theatre) this.change(this.theatre, scene, motion, fresh);
    else if (scene) this.open(scene, motion);
    this.handles.show(handles, start, quantities, this.theatre);
    this.nameScales(overlays);
    this.blank.hidden = true;
  }

  /** Say how long arrows are, in their colours. @param {OverlayData[]} overlays */
  nameScales(overlays) {
    const arrows = overlays.filter(({ kind }) => kind === "arrows");
    this.scales.replaceChildren(...arrows.map(({ label, colour }) => {
      const line = make("span", { textContent: label });
      line.style.color = `var(${colour})`;
      return line;
    }));
  }

  /** @param {SceneData} scene @param {PackedMotion} motion */
  open(scene, motion) {
    this.store.set({ trace: firstTrace(scene) });
    this.theatre = bindStage({ ...scene, motion }, this.store);
    if (this.theatre) this.theatre.scene.onFrame = () => this.handles.place();
    this.listTraces(scene);
  }

  /** @param {Theatre} theatre @param {SceneData | null} scene @param {PackedMotion} motion @param {boolean} fresh */
  change({ stage, scene: picture, home, adjust }, scene, motion, fresh) {
    const structure = scene !== null && scene.bodies.length !== stage.bodies.length;
    if (scene) stage.showBodies(scene);
    stage.showMotion(motion);
    if (structure && scene) this.store.set({ trace: firstTrace(scene) });
    if (fresh || structure || (!this.isHeld && stage.hasOutgrown())) this.frame(stage, home, fresh || structure);
    if (scene) this.listTraces(scene);
    picture.present(Boolean(scene));
    adjust();
  }

  /** Buttons below a root play motions into branches of the loops. @param {HTMLElement} root @param {PackedMotion[]} branches */
  offerBranches(root, branches) {
    this.leaveBranches();
    if (this.theatre) this.leaveBranches = bindBranches(root, branches, this.theatre);
  }

  /** Frame the mechanism; a camera that somebody has turned keeps its direction. @param {Stage} stage @param {() => void} home @param {boolean} anew */
  frame(stage, home, anew) {
    const { azimuth, elevation } = stage.camera, { steered } = stage;
    stage.frame();
    if (!steered || anew) return home();
    stage.camera.look(azimuth, elevation);
    stage.frameAll();
  }

  /** @param {SceneData} scene */
  listTraces({ view }) {
    /** @param {string} text @param {number} value */
    const option = (text, value) => make("option", { textContent: text, value: String(value) });
    const several = view.traces.length > 1 ? [option("all paths", ALL_PATHS)] : [], drawn = view.traces.some((trace) => trace.shown) ? [option("drawn paths", DRAWN_PATHS)] : [];
    this.trace.replaceChildren(option("no path", NO_PATH), ...drawn, ...several, ...view.traces.map((trace, k) => option(`path of ${trace.label}`, k)));
    this.trace.value = String(this.store.state.trace);
  }

  /** Say why there is nothing new to see. @param {string} reason */
  say(reason) {
    this.blank.textContent = reason;
    this.blank.hidden = !reason;
  }

  repaint() {
    this.stage?.readColours();
    this.theatre?.scene.refresh();
  }
}

/** The paths that are shown at first: those that are drawn, else the first. @param {SceneData} scene */
const firstTrace = ({ view }) => (view.traces.some((trace) => trace.shown) ? DRAWN_PATHS : 0);
