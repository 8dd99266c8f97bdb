// The modules under test, by name; the one place that knows where they are.
import { parseHTML } from "../../tools/web/node_modules/linkedom/esm/index.js";

const SOURCES = new URL("../../src/torseur/presentation/", import.meta.url);

export const report = (name) => import(new URL(`report/assets/js/${name}.js`, SOURCES));
export const studio = (name) => import(new URL(`studio/assets/js/${name}.js`, SOURCES));

// A page without a browser: elements and events, but no sizes, no style and no picture.
export function openPage(body) {
  const { window, document } = parseHTML(`<!doctype html><html><body>${body}</body></html>`);
  const silent = class { observe() {} disconnect() {} };
  Object.assign(globalThis, {
    window, document, Element: window.Element, HTMLElement: window.HTMLElement, ResizeObserver: silent,
    requestAnimationFrame: (act) => setTimeout(act), addEventListener: () => {}, removeEventListener: () => {},
  });
  window.Element.prototype.getBoundingClientRect = () => ({ top: 0, bottom: 0, left: 0, width: 0, height: 0 });
  return document;
}

// An event that bubbles, with the keys held that a test names.
export function dispatch(element, type, properties = {}) {
  const event = Object.assign(new element.ownerDocument.defaultView.Event(type, { bubbles: true, cancelable: true }), properties);
  element.dispatchEvent(event);
  return event;
}

// For browsers' Map.groupBy on older versions of node.
Map.groupBy ??= (items, keyOf) => {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
};

export function near(actual, expected, tolerance = 1e-9) {
  const [a, b] = [actual, expected].map((x) => (typeof x === "number" ? [x] : [...x]));
  if (a.length !== b.length) throw new Error(`${a.length} numbers, expected ${b.length}`);
  a.forEach((x, k) => {
    if (!(Math.abs(x - b[k]) <= tolerance)) throw new Error(`[${k}] is ${x}, expected ${b[k]} within ${tolerance}`);
  });
}

// Numbers that look random and are the same in every run.
export function* numbers(seed = 1) {
  for (let state = seed; ; ) {
    state = (state * 48271) % 2147483647;
    yield (2 * state) / 2147483647 - 1;
  }
}
