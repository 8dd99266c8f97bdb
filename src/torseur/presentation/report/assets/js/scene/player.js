// Play, pause, scrub and speed.
/** @import { ViewState } from "../data.js" */
/** @import { Store } from "../shared/store.js" */
import { byId, targetOf } from "../shared/elements.js";

/**
 * Tie the buttons and the slider of time to the store. `motion()` knows the first and the last time; it may change, and the
 * function returned takes that over.
 * @param {Store} store
 * @param {() => { first: number, last: number }} motion
 */
export function bindPlayer(store, motion) {
  const play = byId("play"), slider = byId("time", HTMLInputElement), clock = byId("clock"), speed = byId("speed", HTMLSelectElement);
  let before = 0;

  /** @param {number} now in milliseconds */
  function tick(now) {
    const { playing, time } = store.state, { first, last } = motion();
    if (!playing) return;
    const next = time + (before ? ((now - before) / 1000) * Number(speed.value) : 0);
    before = now;
    store.set({ time: next > last ? first : next });
    requestAnimationFrame(tick);
  }

  function toggle() {
    const { playing, time } = store.state, { first, last } = motion();
    before = 0;
    store.set({ playing: !playing, time: !playing && time >= last ? first : time });
    if (!playing) requestAnimationFrame(tick);
  }

  play.addEventListener("click", toggle);
  slider.addEventListener("input", () => store.set({ playing: false, time: Number(slider.value) }));
  document.addEventListener("keydown", (event) => {
    const busy = targetOf(event).closest("button, input, select, summary, textarea, [contenteditable]");
    if (event.key === " " && !busy) { event.preventDefault(); toggle(); }
  });
  /** @param {ViewState} state */
  const show = ({ time }) => {
    const { first, last } = motion();
    Object.assign(slider, { min: String(first), max: String(last), value: String(time) });
    slider.style.setProperty("--done", `${(100 * (time - first)) / (last - first)}%`);
    clock.textContent = `${time.toFixed(last - first < 1 ? 3 : 2)} s`;
  };
  store.subscribe(["time"], show);
  store.subscribe(["playing"], ({ playing }) => {
    play.classList.toggle("playing", playing);
    play.setAttribute("aria-label", playing ? "Pause" : "Play");
  });
  return () => {
    store.set({ time: Math.min(store.state.time, motion().last) });
    show(store.state);
  };
}
