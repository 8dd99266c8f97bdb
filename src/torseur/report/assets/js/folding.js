// Definitions unfold below their card, and any part of a term folds to a named placeholder and opens again.
// By pointer: a name with a definition opens it, anything else folds the innermost part (with Shift the one around it).
// By keyboard, on a term: down and up go into its parts and out again, left and right along them, Enter folds or opens.
import { NOTHING } from "./store.js";
import { partsOf } from "./parts.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const LETTERS = ["P", "S", "Z", "H", "K", "E", "Part"];

// Folds what is below `root`; `store`, where there is one, lights up what a placeholder comes from. `rowOf(id)` gives the
// row of a definition, or nothing while there is none.
export class Folding {
  constructor(root, store = null, rowOf = (id) => document.getElementById(id)) {
    Object.assign(this, { root, store, rowOf, names: new Map(), known: new WeakMap(), chosen: null, aimed: null });
    this.renew();
    this.markNames();
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("mousedown", (event) => { if (event.shiftKey && event.target.closest(".term")) event.preventDefault(); }); // no selection of text
    root.addEventListener("keydown", (event) => this.key(event), true);
    root.addEventListener("focusout", () => this.choose(null));
    root.addEventListener("pointerover", (event) => this.aim(event.target));
  }

  // After what is below the root was written anew: a letter that nothing there is called.
  renew() {
    const used = new Set([...this.root.querySelectorAll("mi")].map((name) => name.textContent));
    this.letter = LETTERS.find((letter) => !used.has(letter)) ?? LETTERS.at(-1);
    this.names.clear();
    Object.assign(this, { chosen: null, aimed: null });
  }

  // Names with definitions; to be marked before any part of a term is read.
  markNames() { this.root.querySelectorAll(".block").forEach((card) => markDefined(card)); }

  // The parts of a term, read once, before any is folded.
  parts(term) {
    if (!this.known.has(term)) {
      const parts = partsOf(term.querySelector("math"));
      parts.forEach((part) => { part.term = term; });
      this.known.set(term, parts);
    }
    return this.known.get(term);
  }

  // The innermost part at an element of the page: a placeholder is the part it stands for.
  partAt(element, term) {
    const parts = this.parts(term);
    return parts.findLast((part) => (part.holder ?? part.element).contains(element)) ?? (element.closest("math") ? parts[0] : undefined);
  }

  click(event) {
    const chip = event.target.closest(".chip[aria-controls]"), term = event.target.closest(".term");
    if (chip) return this.toggleDefinitions([chip.getAttribute("aria-controls")]);
    if (!term) return;
    const defined = event.target.closest("[data-defined]");
    if (defined && !event.shiftKey) return this.toggleDefinitions([defined.dataset.defined]);
    let part = this.partAt(event.target, term);
    if (part && event.shiftKey) part = part.around ?? part;
    if (part) this.toggle(part);
  }

  // The part that a click would fold or open is shown.
  aim(element) {
    const term = element.closest(".term"), defined = element.closest("[data-defined]");
    const part = term && !defined ? this.partAt(element, term) : undefined, next = part?.holder ?? part?.element ?? null;
    this.aimed?.classList.remove("aimed");
    this.aimed = next;
    next?.classList.add("aimed");
  }

  key(event) {
    const term = event.target.closest(".term");
    if (!term || event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowDown: () => this.inward(term), ArrowUp: () => this.outward(), ArrowRight: () => this.along(1), ArrowLeft: () => this.along(-1), Enter: () => this.enter(term), Escape: () => this.choose(null) };
    if (!moves[event.key]?.()) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Each of these moves says whether it was one.
  inward(term) {
    const [first] = this.chosen ? (this.chosen.holder ? [] : this.chosen.inside) : this.parts(term);
    if (first) this.choose(first);
    return Boolean(first ?? this.chosen);
  }

  outward() {
    if (!this.chosen) return false;
    this.choose(this.chosen.around);
    return true;
  }

  along(step) {
    if (!this.chosen) return false;
    const beside = this.chosen.around?.inside ?? [this.chosen];
    this.choose(beside[beside.indexOf(this.chosen) + step] ?? this.chosen);
    return true;
  }

  enter(term) {
    if (!this.chosen && term.dataset.opens) this.toggleDefinitions(term.dataset.opens.split(" "));
    else if (this.chosen ?? this.parts(term)[0]) this.toggle(this.chosen ?? this.parts(term)[0]);
    return true;
  }

  // Unfolds all of these definitions, or folds them where all are unfolded.
  toggleDefinitions(ids) {
    const rows = ids.map((id) => this.rowOf(id)).filter(Boolean), hide = rows.every((row) => !row.hidden);
    for (const row of rows) {
      row.hidden = hide;
      this.root.querySelector(`.chip[aria-controls="${row.id}"]`)?.setAttribute("aria-expanded", String(!hide));
    }
  }

  // The part that the keys are at.
  choose(part) {
    if (this.chosen) mark(this.chosen, false);
    this.chosen = part;
    if (part) mark(part, true);
  }

  toggle(part) {
    if (part.holder) this.open(part);
    else this.fold(part);
  }

  fold(part) {
    if (part.holder) return;
    const chosen = part === this.chosen;
    if (chosen) mark(part, false);
    part.holder = this.placeholder(part);
    part.element.replaceWith(part.holder);
    if (chosen) mark(part, true);
    this.list(part.term.closest(".block") ?? this.root);
  }

  open(part) {
    if (!part.holder) return;
    const chosen = part === this.chosen;
    part.holder.replaceWith(part.element);
    part.holder = null;
    if (chosen) mark(part, true);
    this.list(part.term.closest(".block") ?? this.root);
  }

  // Equal parts have one name, on the whole page.
  placeholder(part) {
    if (!this.names.has(part.markup)) this.names.set(part.markup, this.names.size + 1);
    const name = build("msub", build("mi", this.letter), build("mn", String(this.names.get(part.markup))));
    const holder = build("mrow", name);
    holder.setAttribute("class", "folded");
    return holder;
  }

  // What is folded in a card, by name, below it.
  list(card) {
    card.querySelector(":scope > div > .folds, :scope > .folds")?.remove();
    const folded = [...card.querySelectorAll(".term")].flatMap((term) => this.known.get(term) ?? []).filter((part) => part.holder);
    if (!folded.length) return;
    const groups = Map.groupBy(folded, (part) => part.markup);
    const list = make("div", { className: "folds" }, make("span", { textContent: "where" }), ...[...groups.values()].map((parts) => this.entry(parts)));
    if (groups.size > 1) list.append(make("button", { type: "button", className: "open-all", textContent: "Open all", onclick: () => folded.forEach((part) => this.open(part)) }));
    list.setAttribute("aria-live", "polite");
    (card.querySelector(":scope > div") ?? card).append(list);
  }

  entry(parts) {
    const [{ holder, element }] = parts, equals = build("mo", "=");
    const bracketed = element.children.length === 3 && element.firstElementChild.textContent === "(";
    const formula = build("math", holder.cloneNode(true), equals, (bracketed ? element.children[1] : element).cloneNode(true));
    const button = make("button", { type: "button", className: "fold", title: reasons(parts), onclick: () => parts.forEach((part) => this.open(part)) }, formula);
    button.setAttribute("aria-label", `Open ${holder.textContent}: ${element.textContent}`);
    const targets = (name) => [...new Set(parts.flatMap(({ term }) => (term.dataset[name] ?? "").split(" ").filter(Boolean).map(Number)))];
    const pointed = { bodies: targets("body"), joints: targets("joint") };
    for (const type of ["pointerenter", "focus"]) button.addEventListener(type, () => this.store?.set({ pointed }));
    for (const type of ["pointerleave", "blur"]) button.addEventListener(type, () => this.store?.set({ pointed: NOTHING }));
    return button;
  }

  // Which parts are folded, as places of terms and parts; `restore` folds them again in a page written anew.
  get state() {
    return [...this.root.querySelectorAll(".term")].flatMap((term, k) => (this.known.get(term) ?? []).filter((part) => part.holder).map((part) => [k, part.place, part.markup]));
  }

  restore(state) {
    const terms = this.root.querySelectorAll(".term");
    for (const [k, place, markup] of state) {
      const part = terms[k] && this.parts(terms[k])[place];
      if (part?.markup === markup) this.fold(part);
    }
  }
}

// Names in terms that a chip of the same card defines; below a part of the card, or all of it.
export function markDefined(card, part = card) {
  const known = new Map([...card.querySelectorAll(".chip[aria-controls]")].map((chip) => [chip.querySelector("math").innerHTML, chip.getAttribute("aria-controls")]));
  for (const element of part.querySelectorAll(".term[data-opens] :is(mi, msub, mover, mrow)")) {
    if (known.has(element.outerHTML) && !element.parentElement.closest("[data-defined]")) element.dataset.defined = known.get(element.outerHTML);
  }
}

function mark(part, chosen) {
  (part.holder ?? part.element).classList.toggle("chosen", chosen);
  if (chosen) part.term.setAttribute("aria-description", `part ${(part.holder ?? part.element).textContent}${part.holder ? ", folded" : ""}`);
  else part.term.removeAttribute("aria-description");
}

const reasons = (parts) => [...new Set(parts.map(({ term }) => term.dataset.why).filter(Boolean))].join("; ");
const make = (tag, properties, ...children) => { const made = Object.assign(document.createElement(tag), properties); made.append(...children); return made; };

function build(tag, ...children) {
  const made = document.createElementNS(MATHML, tag);
  made.append(...children);
  return made;
}
