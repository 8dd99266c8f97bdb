// What is pointed at lights up everywhere: terms, parameters, boxes of the drawing, curves, bodies of the scene.
/** @import { Pointed } from "../data.js" */
/** @import { Store } from "../shared/store.js" */
/** An element of the page, and the bodies and joints it belongs to. @typedef {Pointed & { element: HTMLElement }} Marked */
/** A place on the page to show a tip at. @typedef {{ left: number, top: number, bottom: number }} Place */
import { NOTHING } from "../shared/store.js";
import { valueAt } from "../numbers/decode.js";
import { readable } from "../numbers/axes.js";
import { all, byId, make } from "../shared/elements.js";

/** @param {string} [text] */
const numbers = (text) => (text ? text.split(" ").map(Number) : []);

/**
 * Tie a part of the page to what is pointed at; returns what unties it.
 * @param {Store} store
 * @param {(Float32Array | null)[]} [values] samples of its terms
 * @param {Float32Array | null} [times] of these samples
 * @param {ParentNode} [root]
 */
export function bindHighlight(store, values = [], times = null, root = document) {
  /** @type {Marked[]} */
  const marked = all(root, "[data-body], [data-joint]").map((element) => ({
    element, bodies: numbers(element.dataset.body), joints: numbers(element.dataset.joint),
  }));
  for (const entry of marked) bindPointing(entry, store);
  const endTips = bindTips(store, values, times, root);
  const endMarks = store.subscribe(["pointed"], ({ pointed }) => {
    const any = pointed.bodies.length + pointed.joints.length > 0;
    document.body.classList.toggle("pointing", any);
    for (const { element, bodies, joints } of marked) element.classList.toggle("lit", any && isLit(pointed, bodies, joints));
  });
  return () => { endTips(); endMarks(); };
}

/** Pointing at bodies lights what belongs to one of them; pointing at a joint alone lights what belongs to that joint. @param {Pointed} pointed @param {number[]} bodies @param {number[]} joints */
function isLit(pointed, bodies, joints) {
  if (pointed.bodies.length) return bodies.some((body) => pointed.bodies.includes(body));
  return joints.some((joint) => pointed.joints.includes(joint));
}

/** @param {Marked} marked @param {Store} store */
function bindPointing({ element, bodies, joints }, store) {
  const on = () => store.set({ pointed: { bodies, joints } }), off = () => store.set({ pointed: NOTHING });
  element.addEventListener("pointerenter", on);
  element.addEventListener("pointerleave", off);
  element.addEventListener("focus", on);
  element.addEventListener("blur", off);
}

/** The reason of a term, and what the term is worth at the present time. @param {Store} store @param {(Float32Array | null)[]} values @param {Float32Array | null} times @param {ParentNode} root */
function bindTips(store, values, times, root) {
  const terms = all(root, ".term");
  /** @type {{ element: HTMLElement, samples: Float32Array | null } | null} */
  let present = null;
  const write = () => {
    if (!present) return hideTip();
    const { element, samples } = present, unit = element.dataset.unit ?? "";
    const worth = samples && times ? `${readable(valueAt(times, samples, store.state.time))} ${unit} at ${store.state.time.toFixed(2)} s` : "";
    showTip(element.getBoundingClientRect(), element.dataset.why ?? "", worth);
  };
  terms.forEach((element, k) => {
    if (!element.dataset.why) return;
    const on = () => { present = { element, samples: values[k] ?? null }; write(); }, off = () => { present = null; hideTip(); };
    for (const type of ["pointerenter", "focus"]) element.addEventListener(type, on);
    for (const type of ["pointerleave", "blur"]) element.addEventListener(type, off);
  });
  const rewrite = () => { if (present) write(); }, endTime = store.subscribe(["time"], rewrite);
  addEventListener("scroll", rewrite, { passive: true, capture: true });
  terms.forEach((element) => element.addEventListener("keydown", walk));
  return () => {
    endTime();
    removeEventListener("scroll", rewrite, { capture: true });
    if (present) hideTip();
  };
}

/** Arrow keys walk along the terms of an equation; the tab key goes from equation to equation. @param {KeyboardEvent} event */
function walk(event) {
  const term = /** @type {HTMLElement} */ (event.currentTarget);
  const next = event.key === "ArrowRight" ? term.nextElementSibling : event.key === "ArrowLeft" ? term.previousElementSibling : null;
  if (!(next instanceof HTMLElement) || !next.classList.contains("term")) return;
  event.preventDefault();
  term.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** @param {Place} box @param {string} text @param {string} [detail] */
export function showTip(box, text, detail = "") {
  const tip = byId("tip");
  tip.replaceChildren(...[text, detail].filter(Boolean).map((line) => make("span", { textContent: line })));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const below = box.bottom + 8 + height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, box.left))}px`;
  tip.style.top = `${below ? box.bottom + 8 : box.top - height - 8}px`;
}

export function hideTip() { byId("tip").hidden = true; }
