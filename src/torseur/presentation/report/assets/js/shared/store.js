// One store for the whole page: time, playing, what is pointed at, the visible span of time. Every view subscribes.
/** @import { Pointed, ViewState } from "../data.js" */
/** @typedef {{ keys: (keyof ViewState)[], react: (state: ViewState) => void }} Listener */

export class Store {
  /** @param {ViewState} state */
  constructor(state) {
    this.state = state;
    /** @type {Listener[]} */
    this.listeners = [];
  }

  /** Call `react(state)` now and whenever one of `keys` changes, until the function that this returns is called. @param {(keyof ViewState)[]} keys @param {(state: ViewState) => void} react */
  subscribe(keys, react) {
    const listener = { keys, react };
    this.listeners.push(listener);
    react(this.state);
    return () => { this.listeners = this.listeners.filter((one) => one !== listener); };
  }

  /** @param {Partial<ViewState>} changes */
  set(changes) {
    const names = /** @type {(keyof ViewState)[]} */ (Object.keys(changes)), changed = names.filter((key) => this.state[key] !== changes[key]);
    if (!changed.length) return;
    Object.assign(this.state, changes);
    for (const { keys, react } of this.listeners) {
      if (keys.some((key) => changed.includes(key))) react(this.state);
    }
  }
}

/** @type {Readonly<Pointed>} */
export const NOTHING = Object.freeze({ bodies: [], joints: [] });
