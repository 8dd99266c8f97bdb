// Definitions unfold below their card, and any part of a term folds to a named placeholder and opens again.
// By pointer: a name with a definition opens it, anything else folds the innermost part (with Shift the one around it).
// By keyboard, on a term: down and up go into its parts and out again, left and right along them, Enter folds or opens.
/** @import { Part } from "./parts.js" */
/** @import { Store } from "../shared/store.js" */
/** A folded part: the number of its term, its place in it, and its markup. @typedef {[term: number, place: number, markup: string]} Folded */
import { all, first, make, targetOf } from "../shared/elements.js";
import { NOTHING } from "../shared/store.js";
import { partsOf } from "./parts.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const LETTERS = ["P", "S", "Z", "H", "K", "E", "Part"];

export class Folding {
  /**
   * @param {HTMLElement} root below which terms fold
   * @param {Store | null} [store] lights up what a placeholder comes from
   * @param {(id: string) => HTMLElement | null} [rowOf] gives the row of a definition, or nothing while there is none
   */
  constructor(root, store = null, rowOf = (id) => document.getElementById(id)) {
    this.root = root;
    this.store = store;
    this.rowOf = rowOf;
    /** Numbers of placeholders by the markup they stand for. @type {Map<string, number>} */
    this.names = new Map();
    /** @type {WeakMap<HTMLElement, Part[]>} */
    this.known = new WeakMap();
    /** The part that the keys are at. @type {Part | null} */
    this.chosen = null;
    /** What a click would fold or open. @type {Element | null} */
    this.aimed = null;
    this.letter = LETTERS[0];
    this.renew();
    this.markNames();
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("mousedown", (event) => { if (event.shiftKey && targetOf(event).closest(".term")) event.preventDefault(); }); // no selection of text
    root.addEventListener("keydown", (event) => this.key(event), true);
    root.addEventListener("focusout", () => this.choose(null));
    root.addEventListener("pointerover", (event) => this.aim(targetOf(event)));
  }

  // After what is below the root was written anew: a letter that nothing there is called.
  renew() {
    const used = new Set(all(this.root, "mi").map((name) => name.textContent));
    this.letter = LETTERS.find((letter) => !used.has(letter)) ?? LETTERS[LETTERS.length - 1];
    this.names.clear();
    this.chosen = this.aimed = null;
  }

  // Names with definitions; to be marked before any part of a term is read.
  markNames() { all(this.root, ".block").forEach((card) => markDefined(card)); }

  /** The parts of a term, read once, before any is folded. @param {HTMLElement} term */
  parts(term) {
    const parts = this.known.get(term) ?? partsOf(term);
    this.known.set(term, parts);
    return parts;
  }

  /** The innermost part at an element of the page: a placeholder is the part it stands for. @param {Element} element @param {HTMLElement} term */
  partAt(element, term) {
    const parts = this.parts(term);
    return parts.findLast((part) => (part.holder ?? part.element).contains(element)) ?? (element.closest("math") ? parts[0] : undefined);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const target = targetOf(event), chip = target.closest(".chip[aria-controls]"), term = termOf(target);
    if (chip) return this.toggleDefinitions([definitionOf(chip)]);
    if (!term) return;
    const name = target.closest("[data-defined]");
    if (name && !event.shiftKey) return this.toggleDefinitions([name.getAttribute("data-defined") ?? ""]);
    let part = this.partAt(target, term);
    if (part && event.shiftKey) part = part.around ?? part;
    if (part) this.toggle(part);
  }

  /** The part that a click would fold or open is shown. @param {Element} element */
  aim(element) {
    const term = termOf(element), part = term && !element.closest("[data-defined]") ? this.partAt(element, term) : undefined, next = part?.holder ?? part?.element ?? null;
    this.aimed?.classList.remove("aimed");
    this.aimed = next;
    next?.classList.add("aimed");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const term = termOf(targetOf(event));
    if (!term || event.altKey || event.ctrlKey || event.metaKey) return;
    /** @type {Record<string, () => boolean | void>} */
    const moves = { ArrowDown: () => this.inward(term), ArrowUp: () => this.outward(), ArrowRight: () => this.along(1), ArrowLeft: () => this.along(-1), Enter: () => this.enter(term), Escape: () => this.choose(null) };
    if (!moves[event.key]?.()) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Each of these moves says whether it was one. @param {HTMLElement} term */
  inward(term) {
    const [outermost] = this.chosen ? (this.chosen.holder ? [] : this.chosen.inside) : this.parts(term);
    if (outermost) this.choose(outermost);
    return Boolean(outermost ?? this.chosen);
  }

  outward() {
    if (!this.chosen) return false;
    this.choose(this.chosen.around);
    return true;
  }

  /** @param {number} step */
  along(step) {
    if (!this.chosen) return false;
    const beside = this.chosen.around?.inside ?? [this.chosen];
    this.choose(beside[beside.indexOf(this.chosen) + step] ?? this.chosen);
    return true;
  }

  /** @param {HTMLElement} term */
  enter(term) {
    if (!this.chosen && term.dataset.opens) this.toggleDefinitions(term.dataset.opens.split(" "));
    else {
      const part = this.chosen ?? this.parts(term)[0];
      if (part) this.toggle(part);
    }
    return true;
  }

  /** Unfolds all of these definitions, or folds them where all are unfolded. @param {string[]} ids */
  toggleDefinitions(ids) {
    const rows = ids.map((id) => this.rowOf(id)).filter((row) => row !== null), hide = rows.every((row) => !row.hidden);
    for (const row of rows) {
      row.hidden = hide;
      this.root.querySelector(`.chip[aria-controls="${row.id}"]`)?.setAttribute("aria-expanded", String(!hide));
    }
  }

  /** Put the keys at a part, or nowhere. @param {Part | null} part */
  choose(part) {
    if (this.chosen) mark(this.chosen, false);
    this.chosen = part;
    if (part) mark(part, true);
  }

  /** @param {Part} part */
  toggle(part) {
    if (part.holder) this.open(part);
    else this.fold(part);
  }

  /** @param {Part} part */
  fold(part) {
    if (part.holder) return;
    const chosen = part === this.chosen;
    if (chosen) mark(part, false);
    part.holder = this.placeholder(part);
    part.element.replaceWith(part.holder);
    if (chosen) mark(part, true);
    this.list(part.term.closest(".block") ?? this.root);
  }

  /** @param {Part} part */
  open(part) {
    if (!part.holder) return;
    const chosen = part === this.chosen;
    part.holder.replaceWith(part.element);
    part.holder = null;
    if (chosen) mark(part, true);
    this.list(part.term.closest(".block") ?? this.root);
  }

  /** Equal parts have one name, on the whole page. @param {Part} part */
  placeholder(part) {
    const number = this.names.get(part.markup) ?? this.names.size + 1;
    this.names.set(part.markup, number);
    const name = build("msub", build("mi", this.letter), build("mn", String(number)));
    const holder = build("mrow", name);
    holder.setAttribute("class", "folded");
    return holder;
  }

  /** What is folded in a card, by name, below it. @param {Element} card */
  list(card) {
    card.querySelector(":scope > div > .folds, :scope > .folds")?.remove();
    const folded = all(card, ".term").flatMap((term) => this.known.get(term) ?? []).filter((part) => part.holder);
    if (!folded.length) return;
    const groups = Map.groupBy(folded, (part) => part.markup);
    const list = make("div", { className: "folds" }, make("span", { textContent: "where" }), ...[...groups.values()].map((parts) => this.entry(parts)));
    if (groups.size > 1) list.append(make("button", { type: "button", className: "open-all", textContent: "Open all", onclick: () => folded.forEach((part) => this.open(part)) }));
    list.setAttribute("aria-live", "polite");
    (card.querySelector(":scope > div") ?? card).append(list);
  }

  /** @param {Part[]} parts that are equal */
  entry(parts) {
    const [{ element }] = parts, holder = this.placeholder(parts[0]);
    const isBracketed = element.children.length === 3 && element.children[0].textContent === "(";
    const formula = build("math", holder, build("mo", "="), (isBracketed ? element.children[1] : element).cloneNode(true));
    const button = make("button", { type: "button", className: "fold", title: reasons(parts), onclick: () => parts.forEach((part) => this.open(part)) }, formula);
    button.setAttribute("aria-label", `Open ${holder.textContent}: ${element.textContent}`);
    /** @param {"body" | "joint"} name */
    const targets = (name) => [...new Set(parts.flatMap(({ term }) => (term.dataset[name] ?? "").split(" ").filter(Boolean).map(Number)))];
    const pointed = { bodies: targets("body"), joints: targets("joint") };
    for (const type of ["pointerenter", "focus"]) button.addEventListener(type, () => this.store?.set({ pointed }));
    for (const type of ["pointerleave", "blur"]) button.addEventListener(type, () => this.store?.set({ pointed: NOTHING }));
    return button;
  }

  // Which parts are folded, as places of terms and parts; `restore` folds them again in a page written anew.
  /** @returns {Folded[]} */
  get state() {
    return all(this.root, ".term").flatMap((term, k) => (this.known.get(term) ?? []).filter((part) => part.holder).map((part) => /** @type {Folded} */ ([k, part.place, part.markup])));
  }

  /** @param {Folded[]} state */
  restore(state) {
    const terms = all(this.root, ".term");
    for (const [k, place, markup] of state) {
      const part = terms[k] && this.parts(terms[k])[place];
      if (part?.markup === markup) this.fold(part);
    }
  }
}

/** Names in terms that a chip of the same card defines; below a part of the card, or all of it. @param {Element} card @param {Element} [part] */
export function markDefined(card, part = card) {
  const known = new Map(all(card, ".chip[aria-controls]").map((chip) => [first(chip, "math").innerHTML, definitionOf(chip)]));
  for (const element of part.querySelectorAll(".term[data-opens] :is(mi, msub, mover, mrow)")) {
    const definition = known.get(element.outerHTML);
    if (definition && !element.parentElement?.closest("[data-defined]")) element.setAttribute("data-defined", definition);
  }
}

/** The identifier of the row that a chip unfolds. @param {Element} chip */
export const definitionOf = (chip) => chip.getAttribute("aria-controls") ?? "";

/** @param {Element} element @returns {HTMLElement | null} */
const termOf = (element) => element.closest(".term");

/** @param {Part} part @param {boolean} chosen */
function mark(part, chosen) {
  (part.holder ?? part.element).classList.toggle("chosen", chosen);
  if (chosen) part.term.setAttribute("aria-description", `part ${(part.holder ?? part.element).textContent}${part.holder ? ", folded" : ""}`);
  else part.term.removeAttribute("aria-description");
}

/** @param {Part[]} parts */
const reasons = (parts) => [...new Set(parts.map(({ term }) => term.dataset.why).filter(Boolean))].join("; ");
/** @param {string} tag @param {...(Node | string)} children */
function build(tag, ...children) {
  const element = document.createElementNS(MATHML, tag);
  element.append(...children);
  return element;
}
