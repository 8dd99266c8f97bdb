// The mechanism in the picture: bodies, motion, handles, paths; kept from one motion to the next where nothing else changed.
import { bindStage } from "../../report/js/theatre.js";
import { Handles } from "./handles.js";

export class Show {
  constructor(store, changed) {
    this.store = store;
    this.blank = document.getElementById("blank");
    this.trace = document.getElementById("trace");
    this.shapes = "";
    this.handles = new Handles(document.getElementById("handles"), store, { changed, held: (held) => { this.isHeld = held; } });
    const grips = document.getElementById("grips");
    grips.addEventListener("click", () => {
      const shown = grips.getAttribute("aria-pressed") === "false";
      grips.setAttribute("aria-pressed", String(shown));
      this.handles.root.hidden = !shown;
    });
  }

  get stage() { return this.theatre?.stage; }

  // A motion as the server sends it; `fresh` when it is the first one of a text.
  present({ scene, shapes, poses, arrays, handles, start }, quantities, fresh) {
    const motion = { ...poses, times: arrays.times, poses: arrays.poses };
    this.shapes = shapes;
    if (!this.theatre) this.open(scene, motion);
    else this.change(scene, motion, fresh);
    this.handles.show(handles, start, quantities, this.theatre);
    this.blank.hidden = true;
  }

  open(scene, motion) {
    this.theatre = bindStage({ ...scene, motion }, this.store);
    this.theatre.scene.onFrame = () => this.handles.place();
    this.listTraces(scene);
  }

  change(scene, motion, fresh) {
    const { stage, scene: picture, home, adjust } = this.theatre;
    const structure = scene && scene.bodies.length !== stage.bodies.length;
    if (scene) stage.showBodies(scene);
    stage.showMotion(motion);
    if (structure) this.store.set({ trace: 0 });
    if (fresh || structure || (!this.isHeld && stage.hasOutgrown())) this.frame(stage, home, fresh || structure);
    if (scene) this.listTraces(scene);
    picture.present(Boolean(scene));
    adjust();
  }

  // Frame the mechanism; a camera that somebody has turned keeps its direction.
  frame(stage, home, anew) {
    const { azimuth, elevation } = stage.camera, { steered } = stage;
    stage.frame();
    if (!steered || anew) return home();
    stage.camera.look(azimuth, elevation);
    stage.frameAll();
  }

  listTraces({ view }) {
    const option = (text, value) => Object.assign(document.createElement("option"), { textContent: text, value });
    this.trace.replaceChildren(option("no path", -1), ...view.traces.map((trace, k) => option(`path of ${trace.label}`, k)));
    this.trace.value = this.store.state.trace;
  }

  // Say why there is nothing new to see.
  say(reason) {
    this.blank.textContent = reason;
    this.blank.hidden = !reason;
  }

  repaint() {
    this.stage?.readColours();
    this.theatre?.scene.refresh();
  }
}
