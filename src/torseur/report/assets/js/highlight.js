// What is pointed at lights up everywhere: terms, parameters, boxes of the drawing, curves, bodies of the scene.
import { NOTHING } from "./store.js";
import { valueAt } from "./decode.js";
import { readable } from "./axes.js";

const numbers = (text) => (text ? text.split(" ").map(Number) : []);

// Tie a part of the page to what is pointed at; returns what unties it. `values` are samples of its terms at `times`.
export function bindHighlight(store, values = [], times = null, root = document) {
  const marked = [...root.querySelectorAll("[data-body], [data-joint]")].map((element) => ({
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

// Pointing at bodies lights what belongs to one of them; pointing at a joint alone lights what belongs to that joint.
function isLit(pointed, bodies, joints) {
  if (pointed.bodies.length) return bodies.some((body) => pointed.bodies.includes(body));
  return joints.some((joint) => pointed.joints.includes(joint));
}

function bindPointing({ element, bodies, joints }, store) {
  const on = () => store.set({ pointed: { bodies, joints } }), off = () => store.set({ pointed: NOTHING });
  element.addEventListener("pointerenter", on);
  element.addEventListener("pointerleave", off);
  element.addEventListener("focus", on);
  element.addEventListener("blur", off);
}

// The reason of a term, and what the term is worth at the present time.
function bindTips(store, values, times, root) {
  const terms = [...root.querySelectorAll(".term")];
  let present = null;
  const write = () => {
    if (!present) return hideTip();
    const { element, samples } = present, unit = element.dataset.unit ?? "";
    const worth = samples && times ? `${readable(valueAt(times, samples, store.state.time))} ${unit} at ${store.state.time.toFixed(2)} s` : "";
    showTip(element.getBoundingClientRect(), element.dataset.why, worth);
  };
  terms.forEach((element, k) => {
    if (!element.dataset.why) return;
    const on = () => { present = { element, samples: values[k] }; write(); }, off = () => { present = null; hideTip(); };
    for (const [type, act] of [["pointerenter", on], ["focus", on], ["pointerleave", off], ["blur", off]]) element.addEventListener(type, act);
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

// Arrow keys walk along the terms of an equation; the tab key goes from equation to equation.
function walk(event) {
  const step = { ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling" }[event.key];
  const next = step && event.currentTarget[step];
  if (!next?.classList.contains("term")) return;
  event.preventDefault();
  event.currentTarget.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

export function showTip(box, text, detail = "") {
  const tip = document.getElementById("tip");
  const lines = [text, detail].filter(Boolean).map((line) => Object.assign(document.createElement("span"), { textContent: line }));
  tip.replaceChildren(...lines);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const below = box.bottom + 8 + height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, box.left))}px`;
  tip.style.top = `${below ? box.bottom + 8 : box.top - height - 8}px`;
}

export function hideTip() { document.getElementById("tip").hidden = true; }
