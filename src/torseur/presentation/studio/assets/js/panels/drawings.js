// Drawings fit their place by sixteenths of their size. The browser keeps what it makes of a font for every size at which
// letters were ever drawn, measured as some 70 kB each; with these steps there are few, and they are exact in its pixels.

import { all } from "../../../../report/assets/js/shared/elements.js";

const SIXTEENTHS = 16;

/** @param {HTMLElement} panel */
export function fitDrawings(panel) {
  if (panel.hidden) return; // asking for sizes would lay out the page; it is fitted when it comes to light
  for (const drawing of all(panel, ".diagram svg", SVGSVGElement)) {
    const room = (drawing.parentElement?.clientWidth ?? 0) / (Number(getComputedStyle(drawing).getPropertyValue("zoom")) || 1);
    const { width } = drawing.viewBox.baseVal, steps = Math.max(1, Math.min(SIXTEENTHS, Math.floor((SIXTEENTHS * room) / width)));
    if (room) drawing.style.width = `${(width * steps) / SIXTEENTHS}px`;
  }
}
