// The branches of motion through a singular configuration, each played in the picture in place of the motion.
/** @import { PackedMotion } from "../data.js" */
/** @import { Theatre } from "./theatre.js" */
import { all } from "../shared/elements.js";

/**
 * Tie the buttons below a root to motions into branches. A second press ends a branch, as do playing and moving through the
 * motion itself, or another motion.
 * @param {ParentNode} root
 * @param {PackedMotion[]} branches
 * @param {Theatre} theatre
 * @returns {() => void} unties them
 */
export function bindBranches(root, branches, { stage, scene, home }) {
  const buttons = all(root, "[data-branch]"), { store } = stage;
  /** The button that is pressed. @type {HTMLElement | null} */
  let pressed = null;
  let before = 0;

  /** @param {HTMLElement | null} chosen */
  const mark = (chosen) => {
    pressed = chosen;
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button === chosen));
      button.textContent = button === chosen ? "Stop" : "Play";
    }
  };

  /** Frame what is shown now. @param {number} start */
  const frame = (start) => {
    stage.measureWay(start);
    if (!stage.steered) home();
    scene.present(false);
  };

  const end = () => {
    if (!pressed) return;
    mark(null);
    if (stage.clock === null) return; // another motion has taken its place
    stage.endBranch();
    frame(stage.view.start);
  };

  /** @param {HTMLElement} button */
  const play = (button) => {
    const isFirst = !pressed;
    store.set({ playing: false });
    mark(button);
    before = 0;
    stage.showBranch(branches[Number(button.dataset.branch)]);
    frame(0);
    if (isFirst) requestAnimationFrame(tick);
  };

  /** @param {number} now in milliseconds */
  const tick = (now) => {
    if (!pressed) return;
    if (stage.clock === null || !pressed.isConnected) return end();
    const { first, last } = stage.motion, next = stage.clock + (before ? (now - before) / 1000 : 0);
    before = now;
    stage.clock = next > last ? first : next;
    stage.follow();
    scene.request();
    requestAnimationFrame(tick);
  };

  for (const button of buttons) {
    button.hidden = false;
    button.onclick = () => (button === pressed ? end() : play(button));
  }
  const unsubscribe = store.subscribe(["time", "playing"], end);
  return () => { end(); unsubscribe(); };
}
