// The parts of a typeset formula that can be folded: sums, products, fractions, brackets, functions, their arguments.
// They are read off the MathML, so that every page with such formulas folds them. A name with a definition is one thing.

const GROUPS = "mrow, mfrac, msqrt, mroot, msup, msubsup";
const FENCES = new Set(["(", ")", "|", "[", "]"]);

// The parts of one formula as a tree: each has its element, its place in the list, the part around it and those inside.
export function partsOf(formula) {
  const parts = [];
  for (const element of formula.querySelectorAll(GROUPS)) {
    if (!isPart(element)) continue;
    const around = parts.findLast((part) => part.element.contains(element)) ?? null;
    const part = { element, place: parts.length, around, inside: [], markup: element.outerHTML.replace(/ data-defined="[^"]*"/g, ""), holder: null };
    around?.inside.push(part);
    parts.push(part);
  }
  return parts;
}

function isPart(element) {
  if (isLabel(element) || element.closest("[data-defined]") || element.querySelector("mtable")) return false;
  if (element.localName.startsWith("msu")) return [...element.children].some(isCompound);
  return isCompound(element) && !isAlone(element);
}

// More than one name or number, with at least one name: a number such as 3/4 or 2·10⁻³ is one thing.
function isCompound(element) {
  const atoms = [...element.querySelectorAll("mi, mn")].filter((atom) => !isLabel(atom));
  return atoms.length > 1 && atoms.some((atom) => atom.localName === "mi");
}

// Subscripts and accents belong to a name.
function isLabel(element) {
  for (let inner = element; inner.parentElement && inner.localName !== "math"; inner = inner.parentElement) {
    const outer = inner.parentElement, place = [...outer.children].indexOf(inner);
    if (place === 1 && ["msub", "msubsup", "mover"].includes(outer.localName)) return true;
  }
  return false;
}

// What a bracket holds, or the only child of a row, is the same part as what is around it.
function isAlone(element) {
  const outer = element.parentElement;
  if (outer.localName !== "mrow") return false;
  return [...outer.children].every((child) => child === element || child.localName === "mspace" || FENCES.has(child.textContent));
}
