import assert from "node:assert/strict";
import { test } from "node:test";
import { dispatch, openPage, report } from "./modules.js";

// (a + b) c + 3/4 d, its first name defined by a chip: parts are the whole sum, the product, and what the bracket holds.
const FORMULA = `<math><mrow><mrow id="product"><mrow id="bracket"><mo>(</mo><mrow id="sum"><mi id="a">a</mi><mo>+</mo><mi>b</mi></mrow><mo>)</mo></mrow><mo>·</mo><mi>c</mi></mrow>
<mo>+</mo><mrow id="scaled"><mfrac id="number"><mn>3</mn><mn>4</mn></mfrac><mi>d</mi></mrow></mrow></math>`;
const CARD = `<div class="block"><div><span class="chips"><button class="chip" aria-controls="def-a"><math><mi>a</mi></math></button></span>
<span class="term" tabindex="0" data-opens="def-a" data-body="2" data-why="inertia">${FORMULA.replace(' id="a"', "")}</span>
<span class="term" tabindex="0" data-body="3">${FORMULA.replaceAll(/ id="\w+"/g, "")}</span>
<div id="def-a" hidden>a = 1</div></div></div>`;

const { partsOf } = await report("formulas/parts");
const { Folding } = await report("formulas/folding");

function openCard() {
  const page = openPage(CARD.replace("FORMULA", FORMULA)), set = [];
  const folding = new Folding(page.body, { set: (changes) => set.push(changes) });
  const [term, other] = page.querySelectorAll(".term");
  return { page, folding, term, other, set, at: (id) => term.querySelector(`#${id}`), has: (id) => term.querySelector(`#${id}`) !== null };
}

test("parts are sums, products and fractions with names; numbers, brackets around one thing and names are not", () => {
  const { term } = openCard();
  const parts = partsOf(term), names = parts.map(({ element }) => element.id);
  assert.deepEqual(names, ["", "product", "bracket", "scaled"]); // the sum in the bracket is the same part as the bracket
  assert.deepEqual(parts.map(({ around }) => around?.place ?? null), [null, 0, 1, 0]);
  assert.deepEqual(parts[0].inside.map(({ place }) => place), [1, 3]);
});

test("a click folds the innermost part, a click on its placeholder opens it", () => {
  const { page, term, at, has } = openCard(), text = term.textContent;
  dispatch(at("sum").lastElementChild, "click");
  assert.equal(has("sum"), false);
  assert.match(page.querySelector(".folds").textContent, /P1=a\+b/);
  dispatch(term.querySelector(".folded"), "click");
  assert.equal(term.textContent, text);
  assert.equal(page.querySelectorAll(".folds").length, 0);
});

test("with shift, a click folds the part around", () => {
  const { at, has } = openCard();
  dispatch(at("sum").lastElementChild, "click", { shiftKey: true });
  assert.equal(has("product"), false);
});

test("equal parts have one name, and one entry that opens them all", () => {
  const { page, folding, term, other } = openCard();
  folding.fold(folding.parts(other)[3]);
  assert.equal(page.querySelectorAll(".fold").length, 1);
  const [first] = folding.parts(other).filter(({ holder }) => holder);
  const twin = folding.parts(term).find(({ element }) => element.id === "scaled");
  twin.markup = first.markup; // but for the identifiers of this test they are equal
  folding.fold(twin);
  assert.deepEqual([...page.querySelectorAll(".term .folded")].map((holder) => holder.textContent), ["P1", "P1"]);
  page.querySelector(".fold").onclick();
  assert.equal(page.querySelectorAll(".folded, .folds").length, 0);
});

test("a name with a definition opens it, and closes it again", () => {
  const { page, term } = openCard(), name = term.querySelector("[data-defined]");
  assert.equal(name.textContent, "a");
  dispatch(name, "click");
  assert.equal(page.getElementById("def-a").hidden, false);
  dispatch(name, "click");
  assert.equal(page.getElementById("def-a").hidden, true);
});

test("keys go into parts, along them and out again", () => {
  const { folding, term } = openCard(), press = (key) => dispatch(term, "keydown", { key });
  press("ArrowDown");
  press("ArrowDown");
  assert.equal(folding.chosen.element.id, "product");
  press("ArrowRight");
  assert.equal(folding.chosen.element.id, "scaled");
  assert.match(term.getAttribute("aria-description"), /^part/);
  press("Enter");
  assert.match(term.getAttribute("aria-description"), /folded$/);
  press("ArrowUp");
  press("Escape");
  assert.equal(folding.chosen, null);
  assert.equal(press("ArrowUp").defaultPrevented, false, "outside of all parts the key is the page's");
});

test("what is folded is folded again in a page that is written anew", () => {
  const one = openCard();
  one.folding.fold(one.folding.parts(one.term)[2]);
  const state = one.folding.state;
  const other = openCard();
  other.folding.restore(state);
  assert.equal(other.has("bracket"), false);
  assert.deepEqual(other.folding.state, state);
  const changed = openCard();
  changed.folding.restore([[0, 2, "<mrow>something else</mrow>"], [9, 0, ""]]);
  assert.deepEqual(changed.folding.state, []);
});

test("the letter of placeholders is one that the page does not use", () => {
  const page = openPage(CARD.replaceAll("<mi>c</mi>", "<mi>P</mi>"));
  assert.equal(new Folding(page.body).letter, "S");
});
