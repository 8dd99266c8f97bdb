// What is read: equations, the drawing of bodies and joints, the loop doctor's words. What was folded open stays open.
import { bindHighlight } from "../../report/js/highlight.js";
import { bindCopying } from "../../report/js/copying.js";
import { Folding, markDefined } from "../../report/js/folding.js";
import { fitDrawings } from "./drawings.js";

const EQUATIONS = ".block > div > .equation";
const ROWS = ":is(.equation, .chips)";
const REST_MS = 100; // after which rows that are not in view are laid out,
const PART_MS = 8; // so long in a frame

export class Reading {
  constructor(panel, store) {
    Object.assign(this, { panel, store, html: null, rows: {}, copies: {}, ends: [], opened: new Set(), folded: [], standing: false });
    this.folding = new Folding(panel, store, (id) => this.row(id));
    new ResizeObserver(() => fitDrawings(panel)).observe(panel);
  }

  // Markup made by the server, or the reason why there is none.
  show(html, reason = "", copies = {}) {
    this.panel.classList.remove("stale");
    if (html === this.html && reason === this.reason) return;
    const { closed, place } = this.look();
    const folded = this.folding.state;
    if (folded.length || this.standing) this.folded = folded; // otherwise what was folded waits for its equation
    this.ends.splice(0).forEach((end) => end());
    Object.assign(this, { html, reason, copies, rows: {}, defined: null });
    this.panel.innerHTML = html;
    fitDrawings(this.panel);
    const rows = this.veil();
    if (reason) this.panel.prepend(Object.assign(document.createElement("p"), { className: "note", textContent: reason }));
    this.folding.renew();
    if (this.folded.length) this.folding.markNames();
    else requestAnimationFrame(() => setTimeout(() => { if (this.html === html) this.folding.markNames(); }));
    this.folding.restore(this.folded);
    this.standing = this.folding.state.length > 0;
    bindCopying(this.copies, this.panel);
    this.ends.push(bindHighlight(this.store, [], null, this.panel));
    this.panel.querySelectorAll("details > summary > span").forEach((title) => {
      if (closed.has(title.textContent)) title.closest("details").open = false;
    });
    this.goTo(place);
    this.unveil(rows, html);
  }

  // Rows wait to be laid out until it is known which are in view: Firefox would take half a second for all of them.
  veil() {
    const rows = [...this.panel.querySelectorAll(ROWS)];
    rows.forEach((row) => row.classList.add("later"));
    return rows;
  }

  // Lay out the rows in view now, the others a few in each frame.
  unveil(rows, html) {
    const { top, bottom } = this.panel.getBoundingClientRect();
    const first = Math.max(0, rows.findIndex((row) => row.getBoundingClientRect().bottom > top));
    let next = first;
    while (next < rows.length && rows[next].getBoundingClientRect().top < bottom) rows[next++].classList.remove("later");
    const rest = [...rows.slice(next), ...rows.slice(0, first)];
    const some = () => {
      const end = performance.now() + PART_MS;
      while (rest.length && performance.now() < end) {
        const row = rest.shift();
        row.classList.remove("later");
        row.getBoundingClientRect(); // lays it out
      }
      if (rest.length && this.html === html) requestAnimationFrame(() => setTimeout(some));
    };
    setTimeout(some, REST_MS);
  }

  // The definitions of what is shown, by the names that chips know them by; they are put in when they are unfolded.
  define(rows, copies) {
    Object.assign(this.copies, copies);
    if (this.defined === this.html && isSame(rows, this.rows)) return;
    this.remember();
    const chips = [...this.panel.querySelectorAll(".chip")];
    const again = chips.filter((chip) => this.opened.has(chip.getAttribute("aria-label"))), place = again.length ? this.place() : null;
    for (const id of Object.keys(this.rows)) document.getElementById(id)?.remove();
    Object.assign(this, { rows, defined: this.html });
    if (!again.length) return;
    this.folding.toggleDefinitions(again.map((chip) => chip.getAttribute("aria-controls")));
    this.folding.restore(this.folded);
    this.goTo(place);
  }

  // The row of a definition; it is made when it is first asked for.
  row(id) {
    const chip = this.panel.querySelector(`.chip[aria-controls="${id}"]`), there = document.getElementById(id);
    if (there || !chip || !this.rows[id]) return there;
    const chips = chip.closest(".chips"), later = [...chips.children].slice([...chips.children].indexOf(chip) + 1);
    const next = later.map((one) => document.getElementById(one.getAttribute("aria-controls"))).find(Boolean);
    const made = document.createRange().createContextualFragment(this.rows[id]).firstElementChild;
    chips.parentElement.insertBefore(made, next ?? chips.parentElement.querySelector(":scope > .folds"));
    markDefined(chip.closest(".block"), made);
    this.ends.push(bindHighlight(this.store, [], null, made));
    return made;
  }

  // What still stands there belongs to an older text.
  stale() { this.panel.classList.toggle("stale", Boolean(this.html)); }

  // What is unfolded stays so.
  remember() {
    if (this.defined !== this.html) return;
    this.opened = new Set([...this.panel.querySelectorAll(".chip[aria-expanded=true]")].map((chip) => chip.getAttribute("aria-label")));
  }

  // What is closed at present, and where one reads.
  look() {
    this.remember();
    const closed = [...this.panel.querySelectorAll("details:not([open]) > summary > span")].map((title) => title.textContent);
    return { closed: new Set(closed), place: this.place() };
  }

  // Which equation is the first to be seen, and where: rows far away are not laid out, so that heights do not tell.
  place() {
    const { top } = this.panel.getBoundingClientRect(), rows = [...this.panel.querySelectorAll(EQUATIONS)];
    if (!this.panel.scrollTop) return null;
    const number = rows.findIndex((row) => row.getBoundingClientRect().bottom > top);
    return number < 0 ? null : { number, offset: rows[number].getBoundingClientRect().top - top };
  }

  goTo(place) {
    const row = place && this.panel.querySelectorAll(EQUATIONS)[place.number];
    if (!row) return;
    row.scrollIntoView({ block: "start" });
    this.panel.scrollTop += row.getBoundingClientRect().top - this.panel.getBoundingClientRect().top - place.offset;
  }
}

function isSame(one, other) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
