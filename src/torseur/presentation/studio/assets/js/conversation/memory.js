// What the browser keeps between visits. In a frame of a notebook it may be denied; then this page alone remembers.
/** @type {Map<string, string>} */
const own = new Map();

/** @template T @param {() => T} act @param {() => T} instead @returns {T} */
function allowed(act, instead) {
  try {
    return act();
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === "SecurityError") return instead();
    throw problem;
  }
}

export const memory = {
  /** @param {string} name @returns {string | null} */
  getItem: (name) => allowed(() => localStorage.getItem(name), () => own.get(name) ?? null),
  /** @param {string} name @param {string} value */
  setItem: (name, value) => allowed(() => localStorage.setItem(name, value), () => { own.set(name, value); }),
  /** @param {string} name */
  removeItem: (name) => allowed(() => localStorage.removeItem(name), () => { own.delete(name); }),
};
