// One store for the whole page: time, playing, what is pointed at, the visible span of time. Every view subscribes.

export class Store {
  constructor(state) {
    this.state = state;
    this.listeners = [];
  }

  // Call `react(state)` now and whenever one of `keys` changes, until the function that this returns is called.
  subscribe(keys, react) {
    const listener = { keys, react };
    this.listeners.push(listener);
    react(this.state);
    return () => { this.listeners = this.listeners.filter((one) => one !== listener); };
  }

  set(changes) {
    const changed = Object.keys(changes).filter((key) => this.state[key] !== changes[key]);
    if (!changed.length) return;
    Object.assign(this.state, changes);
    for (const { keys, react } of this.listeners) {
      if (keys.some((key) => changed.includes(key))) react(this.state);
    }
  }
}

export const NOTHING = Object.freeze({ bodies: [], joints: [] });
