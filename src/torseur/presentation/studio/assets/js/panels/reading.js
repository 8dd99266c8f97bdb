// What is read: equations, the drawing of bodies and joints, the loop doctor's words. What was folded open stays open.
/** @import { Folded } from "../../../../report/assets/js/formulas/folding.js" */
/** @import { Store } from "../../../../report/assets/js/shared/store.js" */
/** The number of an equation and where it stands below the top of the panel, in pixels. @typedef {{ number: number, offset: number }} Place */
import { all, first, make } from "../../../../report/assets/js/shared/elements.js";
import { bindHighlight } from "../../../../report/assets/js/formulas/highlight.js";
import { bindCopying } from "../../../../report/assets/js/shared/copying.js";
import { definitionOf, Folding, markDefined } from "../../../../report/assets/js/formulas/folding.js";
import { fitDrawings } from "./drawings.js";

const EQUATIONS = ".block > div > .equation";
const ROWS = ":is(.equation, .chips)";
const REST_MS = 100; // after which rows that are not in view are laid out,
const PART_MS = 8; // so long in a frame

export class Reading {
  /** @param {HTMLElement} panel @param {Store} store */
  constructor(panel, store) {
    this.panel = panel;
    this.store = store;
    /** What the panel shows, and the same once its definitions are there. @type {string | null} */
    this.html = null;
    /** @type {string | null} */
    this.defined = null;
    this.reason = "";
    /** Definitions as markup, by their identifiers. @type {Record<string, string>} */
    this.rows = {};
    /** @type {Record<string, string>} */
    this.copies = {};
    /** What unties the panel from the store. @type {(() => void)[]} */
    this.ends = [];
    /** The spoken names of definitions that are unfolded. @type {Set<string | null>} */
    this.opened = new Set();
    /** @type {Folded[]} */
    this.folded = [];
    this.standing = false; // whether what was folded is folded in the present equations
    this.folding = new Folding(panel, store, (id) => this.row(id));
    new ResizeObserver(() => fitDrawings(panel)).observe(panel);
  }

  /** Markup made by the server, or the reason why there is none. @param {string} html @param {string} [reason] @param {Record<string, string>} [copies] */
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
    if (reason) this.panel.prepend(make("p", { className: "note", textContent: reason }));
    this.folding.renew();
    if (this.folded.length) this.folding.markNames();
    else requestAnimationFrame(() => setTimeout(() => { if (this.html === html) this.folding.markNames(); }));
    this.folding.restore(this.folded);
    this.standing = this.folding.state.length > 0;
    bindCopying(this.copies, this.panel);
    this.ends.push(bindHighlight(this.store, [], null, this.panel));
    for (const card of all(this.panel, "details:has(> summary > span)", HTMLDetailsElement)) {
      if (closed.has(titleOf(card))) card.open = false;
    }
    this.goTo(place);
    this.unveil(rows, html);
  }

  // Rows wait to be laid out until it is known which are in view: Firefox would take half a second for all of them.
  veil() {
    const rows = all(this.panel, ROWS);
    rows.forEach((row) => row.classList.add("later"));
    return rows;
  }

  /** Lay out the rows in view now, the others a few in each frame. @param {HTMLElement[]} rows @param {string} html */
  unveil(rows, html) {
    const { top, bottom } = this.panel.getBoundingClientRect();
    const start = Math.max(0, rows.findIndex((row) => row.getBoundingClientRect().bottom > top));
    let next = start;
    while (next < rows.length && rows[next].getBoundingClientRect().top < bottom) rows[next++].classList.remove("later");
    const rest = [...rows.slice(next), ...rows.slice(0, start)];
    const some = () => {
      const end = performance.now() + PART_MS;
      for (let row = rest.shift(); row; row = performance.now() < end ? rest.shift() : undefined) {
        row.classList.remove("later");
        row.getBoundingClientRect(); // lays it out
      }
      if (rest.length && this.html === html) requestAnimationFrame(() => setTimeout(some));
    };
    setTimeout(some, REST_MS);
  }

  /** The definitions of what is shown, by the names that chips know them by; they are put in when they are unfolded. @param {Record<string, string>} rows @param {Record<string, string>} copies */
  define(rows, copies) {
    Object.assign(this.copies, copies);
    if (this.defined === this.html && isSame(rows, this.rows)) return;
    this.remember();
    const again = all(this.panel, ".chip").filter((chip) => this.opened.has(chip.getAttribute("aria-label"))), place = again.length ? this.place() : null;
    for (const id of Object.keys(this.rows)) document.getElementById(id)?.remove();
    this.rows = rows;
    this.defined = this.html;
    if (!again.length) return;
    this.folding.toggleDefinitions(again.map(definitionOf));
    this.folding.restore(this.folded);
    this.goTo(place);
  }

  /** The row of a definition; it is made when it is first asked for, and stands among the others in the order of the chips. @param {string} id @returns {HTMLElement | null} */
  row(id) {
    const chip = this.panel.querySelector(`.chip[aria-controls="${id}"]`), there = document.getElementById(id);
    const chips = chip?.parentElement, card = chips?.parentElement, block = chip?.closest(".block");
    if (there || !chips || !card || !block || !this.rows[id]) return there;
    const later = [...chips.children].slice([...chips.children].indexOf(chip) + 1);
    const next = later.map((one) => document.getElementById(definitionOf(one))).find(Boolean);
    const row = first(document.createRange().createContextualFragment(this.rows[id]), "*");
    card.insertBefore(row, next ?? card.querySelector(":scope > .folds"));
    markDefined(block, row);
    this.ends.push(bindHighlight(this.store, [], null, row));
    return row;
  }

  // What still stands there belongs to an older text.
  stale() { this.panel.classList.toggle("stale", Boolean(this.html)); }

  // What is unfolded stays so.
  remember() {
    if (this.defined !== this.html) return;
    this.opened = new Set(all(this.panel, ".chip[aria-expanded=true]").map((chip) => chip.getAttribute("aria-label")));
  }

  // What is closed at present, and where one reads.
  look() {
    this.remember();
    return { closed: new Set(all(this.panel, "details:not([open]):has(> summary > span)").map(titleOf)), place: this.place() };
  }

  // Which equation is the first to be seen, and where: rows far away are not laid out, so that heights do not tell.
  /** @returns {Place | null} */
  place() {
    const { top } = this.panel.getBoundingClientRect(), rows = all(this.panel, EQUATIONS);
    if (!this.panel.scrollTop) return null;
    const number = rows.findIndex((row) => row.getBoundingClientRect().bottom > top);
    return number < 0 ? null : { number, offset: rows[number].getBoundingClientRect().top - top };
  }

  /** @param {Place | null} place */
  goTo(place) {
    const row = place && all(this.panel, EQUATIONS)[place.number];
    if (!row) return;
    row.scrollIntoView({ block: "start" });
    this.panel.scrollTop += row.getBoundingClientRect().top - this.panel.getBoundingClientRect().top - place.offset;
  }
}

/** The title of a card. @param {HTMLElement} card */
const titleOf = (card) => first(card, ":scope > summary > span").textContent;

/** @param {Record<string, string>} one @param {Record<string, string>} other */
function isSame(one, other) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
