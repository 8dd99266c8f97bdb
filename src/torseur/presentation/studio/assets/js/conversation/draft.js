// What is written and chosen. The browser keeps a copy, so that what is typed while there is no connection is not lost.
/** @import { Numbers, Outline, Quantity, State } from "../messages.js" */
import { memory } from "./memory.js";

/** @type {State} */
const EMPTY = { text: "", revision: -1, values: {}, initial: {}, until: 10, formalism: "recursive", level: "scalar", criterion: "", outputs: "", over: "", arrows: "", suspension: "", name: "" };

export class Draft {
  constructor() {
    this.state = { ...EMPTY };
    this.key = ""; // under which the browser keeps it; empty until it is known what is worked on
  }

  /** @param {Partial<State>} changes */
  change(changes) {
    this.state = { ...this.state, ...changes, revision: this.state.revision + 1 };
    this.store();
  }

  /** Take over the state of the server, unless this browser holds a newer one of the same file; then true. @param {string} file @param {State} state */
  greet(file, state) {
    this.key = `draft ${location.pathname} ${file}`;
    const own = this.state.revision >= 0 ? this.state : this.readStored();
    const isNewer = own !== null && own.revision > state.revision;
    this.state = isNewer ? own : { ...EMPTY, ...state };
    return isNewer;
  }

  /** Values that the text now gives otherwise, or that it no longer has, follow the text again. @param {Outline | null} before @param {Outline} now */
  followText(before, now) {
    /** @param {Numbers} given @param {Quantity[]} quantities @param {Quantity[]} [earlier] */
    const keep = (given, quantities, earlier) => Object.fromEntries(Object.entries(given).filter(([name]) => {
      const one = quantities.find((quantity) => quantity.name === name), old = earlier?.find((quantity) => quantity.name === name);
      return one && (!old || old.value === one.value || before?.title !== now.title);
    }));
    /** @param {Numbers} a @param {Numbers} b */
    const fewer = (a, b) => Object.keys(a).length < Object.keys(b).length;
    const values = keep(this.state.values, now.parameters, before?.parameters), some = keep(this.state.initial, now.start, before?.start);
    const initial = now.closed && fewer(some, this.state.initial) ? {} : some; // the coordinates of a loop go together
    if (fewer(values, this.state.values) || fewer(initial, this.state.initial)) this.change({ values, initial });
  }

  store() {
    if (!this.key) return;
    try {
      memory.setItem(this.key, JSON.stringify(this.state));
    } catch {
      // A full or closed store is no reason to stop: the server keeps the state too.
    }
  }

  /** @returns {State | null} */
  readStored() {
    try {
      return JSON.parse(memory.getItem(this.key) ?? "null");
    } catch {
      return null;
    }
  }

  /** The server has this revision on disk: this browser need not keep it. @param {number} revision */
  confirm(revision) {
    if (this.key && revision >= this.state.revision) memory.removeItem(this.key);
  }
}
