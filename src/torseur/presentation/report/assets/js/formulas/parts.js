// The parts of a typeset formula that can be folded: sums, products, fractions, brackets, functions, their arguments.
// They are read off the MathML, so that every page with such formulas folds them. A name with a definition is one thing.
/**
 * @typedef {object} Part
 * @property {Element} element
 * @property {number} place in the list of parts of its term
 * @property {Part | null} around
 * @property {Part[]} inside
 * @property {string} markup by which equal parts are known
 * @property {Element | null} holder the placeholder that stands there while the part is folded
 * @property {HTMLElement} term
 */

const GROUPS = "mrow, mfrac, msqrt, mroot, msup, msubsup";
const FENCES = new Set(["(", ")", "|", "[", "]"]);

/** The parts of the formula of a term as a list, outer ones first, that is a tree too. @param {HTMLElement} term */
export function partsOf(term) {
  /** @type {Part[]} */
  const parts = [];
  for (const element of term.querySelector("math")?.querySelectorAll(GROUPS) ?? []) {
    if (!isPart(element)) continue;
    const around = parts.findLast((part) => part.element.contains(element)) ?? null;
    const markup = element.outerHTML.replace(/ data-defined="[^"]*"/g, "");
    /** @type {Part} */
    const part = { element, place: parts.length, around, inside: [], markup, holder: null, term };
    around?.inside.push(part);
    parts.push(part);
  }
  return parts;
}

/** @param {Element} element */
function isPart(element) {
  if (isLabel(element) || element.closest("[data-defined]") || element.querySelector("mtable")) return false;
  if (element.localName.startsWith("msu")) return [...element.children].some(isCompound);
  return isCompound(element) && !isAlone(element);
}

/** More than one name or number, with at least one name: a number such as 3/4 or 2·10⁻³ is one thing. @param {Element} element */
function isCompound(element) {
  const atoms = [...element.querySelectorAll("mi, mn")].filter((atom) => !isLabel(atom));
  return atoms.length > 1 && atoms.some((atom) => atom.localName === "mi");
}

/** Subscripts and accents belong to a name. @param {Element} element */
function isLabel(element) {
  for (let inner = element; inner.parentElement && inner.localName !== "math"; inner = inner.parentElement) {
    const outer = inner.parentElement, place = [...outer.children].indexOf(inner);
    if (place === 1 && ["msub", "msubsup", "mover"].includes(outer.localName)) return true;
  }
  return false;
}

/** What a bracket holds, or the only child of a row, is the same part as what is around it. @param {Element} element */
function isAlone(element) {
  const outer = element.parentElement;
  if (outer?.localName !== "mrow") return false;
  return [...outer.children].every((child) => child === element || child.localName === "mspace" || FENCES.has(child.textContent ?? ""));
}
