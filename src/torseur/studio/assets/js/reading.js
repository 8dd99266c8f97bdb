// What is read: equations, the drawing of bodies and joints, the loop doctor's words. What was folded open stays open.
import { bindHighlight } from "../../report/js/highlight.js";
import { bindCopying } from "../../report/js/copying.js";
import { Folding } from "../../report/js/folding.js";

export class Reading {
  constructor(panel, store) {
    Object.assign(this, { panel, store, html: null, folding: new Folding(panel, store) });
  }

  // Markup made by the server, or the reason why there is none.
  show(html, reason = "", copies = {}) {
    this.panel.classList.remove("stale");
    if (html === this.html && reason === this.reason) return;
    const opened = this.opened(), folded = this.folding.state;
    this.unbind?.();
    Object.assign(this, { html, reason });
    this.panel.innerHTML = html;
    if (reason) this.panel.prepend(Object.assign(document.createElement("p"), { className: "note", textContent: reason }));
    this.folding.renew();
    this.folding.restore(folded);
    bindCopying(copies, this.panel);
    this.unbind = bindHighlight(this.store, [], null, this.panel);
    this.reopen(opened);
  }

  // What still stands there belongs to an older text.
  stale() { this.panel.classList.toggle("stale", Boolean(this.html)); }

  opened() {
    const chips = [...this.panel.querySelectorAll(".chip[aria-expanded=true]")].map((chip) => chip.getAttribute("aria-label"));
    const closed = [...this.panel.querySelectorAll("details:not([open]) > summary > span")].map((title) => title.textContent);
    return { chips: new Set(chips), closed: new Set(closed), top: this.panel.scrollTop };
  }

  reopen({ chips, closed, top }) {
    this.panel.querySelectorAll(".chip").forEach((chip) => { if (chips.has(chip.getAttribute("aria-label"))) chip.click(); });
    this.panel.querySelectorAll("details > summary > span").forEach((title) => {
      if (closed.has(title.textContent)) title.closest("details").open = false;
    });
    this.panel.scrollTop = top;
  }
}
