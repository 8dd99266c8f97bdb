// Drawings fit their place by sixteenths of their size. The browser keeps what it makes of a font for every size at which
// letters were ever drawn, measured as some 70 kB each; with these steps there are few, and they are exact in its pixels.

const STEPS = 16;

export function fitDrawings(panel) {
  if (panel.hidden) return; // asking for sizes would lay out the page; it is fitted when it comes to light
  for (const drawing of panel.querySelectorAll(".diagram svg")) {
    const room = drawing.parentElement.clientWidth / (Number(getComputedStyle(drawing).zoom) || 1);
    const { width } = drawing.viewBox.baseVal, steps = Math.max(1, Math.min(STEPS, Math.floor((STEPS * room) / width)));
    if (room) drawing.style.width = `${(width * steps) / STEPS}px`;
  }
}
