// Play, pause, scrub and speed.

// `motion()` knows the first and the last time; it may change, and the function returned takes that over.
export function bindPlayer(store, motion) {
  const play = document.getElementById("play"), slider = document.getElementById("time");
  const clock = document.getElementById("clock"), speed = document.getElementById("speed");
  let before = 0;

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
    const busy = event.target.closest("button, input, select, summary, textarea");
    if (event.key === " " && !busy) { event.preventDefault(); toggle(); }
  });
  const show = ({ time }) => {
    const { first, last } = motion();
    Object.assign(slider, { min: first, max: last, value: time });
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
