// Play, pause, scrub and speed.

export function bindPlayer(store, first, last) {
  const play = document.getElementById("play"), slider = document.getElementById("time");
  const clock = document.getElementById("clock"), speed = document.getElementById("speed");
  const digits = last - first < 1 ? 3 : 2;
  let before = 0;

  function tick(now) {
    const { playing, time } = store.state;
    if (!playing) return;
    const next = time + (before ? ((now - before) / 1000) * Number(speed.value) : 0);
    before = now;
    store.set({ time: next > last ? first : next });
    requestAnimationFrame(tick);
  }

  function toggle() {
    const { playing, time } = store.state;
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
  store.subscribe(["time"], ({ time }) => {
    slider.value = time;
    slider.style.setProperty("--done", `${(100 * (time - first)) / (last - first)}%`);
    clock.textContent = `${time.toFixed(digits)} s`;
  });
  store.subscribe(["playing"], ({ playing }) => {
    play.classList.toggle("playing", playing);
    play.setAttribute("aria-label", playing ? "Pause" : "Play");
  });
}
