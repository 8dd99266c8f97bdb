import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, studio } from "./modules.js";

openPage("");
Object.assign(globalThis, { navigator: { userAgent: "" }, MutationObserver: class { observe() {} disconnect() {} takeRecords() { return []; } } });

const { EditorState } = await studio("vendor/codemirror");
const { languageOf, readPiece } = await studio("editor/language");
const { faultMarks, placeOf, setFaults } = await studio("editor/faults");

const WORDS = new Set(["param", "body", "end", "init"]);

// A stream as CodeMirror gives it to a language, over one line.
class Line {
  constructor(string) { Object.assign(this, { string, pos: 0 }); }
  rest() { return this.string.slice(this.pos); }
  skipToEnd() { this.pos = this.string.length; }
  next() { return this.string[this.pos++]; }
  eatSpace() { const { length } = /^\s*/.exec(this.rest())[0]; this.pos += length; return length > 0; }
  match(pattern, consume = true) {
    if (typeof pattern === "string") {
      if (!this.rest().startsWith(pattern)) return null;
      this.pos += pattern.length;
      return true;
    }
    const match = pattern.exec(this.rest());
    if (!match || match.index > 0) return null;
    if (consume) this.pos += match[0].length;
    return match;
  }
}

// Pieces that have a kind, as "text: kind".
function read(...lines) {
  const state = { comment: false, number: false }, pieces = [];
  for (const line of lines) {
    const stream = new Line(line);
    while (stream.pos < line.length) {
      const start = stream.pos, kind = readPiece(stream, state, WORDS);
      assert.ok(stream.pos > start, `no piece at ${start} of ${line}`);
      if (kind) pieces.push(`${line.slice(start, stream.pos).trim()}: ${kind}`);
    }
  }
  return pieces;
}

test("numbers are read with their units, which words of the language and names of functions are not", () => {
  assert.deepEqual(read("param g = 9.81 m/s^2, k = 1e-3 N*m/rad ;"), ["param: keyword", "9.81: number", "m/s^2: unit", "1e-3: number", "N*m/rad: unit"]);
  assert.deepEqual(read("2 end"), ["2: number", "end: keyword"]);
  assert.deepEqual(read("2 sin(q) + .5 q' + 3 arm.x"), ["2: number", ".5: number", "3: number"]);
  assert.deepEqual(read("90°"), ["90: number", "°: unit"]);
});

test("a name may hold digits, and is no number", () => assert.deepEqual(read("q1 + m2*r_3 + ω2"), []));

test("comments go over lines, and what follows them is read", () => {
  assert.deepEqual(read("1 (* one", "param \"two\"", "three *) 2"), ["1: number", "(* one: comment", "param \"two\": comment", "three *): comment", "2: number"]);
});

test("a text ends with its line, and a quote in it does not end it", () => {
  assert.deepEqual(read('"a \\" b" end', '"open', "end"), ['"a \\" b": string', "end: keyword", '"open: string', "end: keyword"]);
});

test("the whole is an extension of CodeMirror", () => {
  assert.doesNotThrow(() => EditorState.create({ doc: "param g = 1 m ;", extensions: languageOf(WORDS) }));
});

const fault = (line, column, end, message = "wrong") => ({ line, column, end, message, hint: "" });
const begin = (doc) => EditorState.create({ doc, extensions: faultMarks });

// What is underlined.
function underlined(state) {
  const texts = [];
  state.field(faultMarks[0]).between(0, state.doc.length, (from, to, { spec }) => { if (spec.class === "fault") texts.push(state.sliceDoc(from, to)); });
  return texts;
}

test("a fault lies under its word, also behind letters that are two halves", () => {
  const { doc } = begin("abc\n𝑞𝑞 wrong 𝑞");
  const { from, to } = placeOf(doc, fault(2, 4, 9));
  assert.equal(doc.sliceString(from, to), "wrong");
});

test("a fault without a length, or beyond its line, marks at least what is there", () => {
  const { doc } = begin("abc\nde");
  assert.deepEqual([placeOf(doc, fault(1, 2, 2))].map(({ from, to }) => [from, to]), [[1, 2]]);
  assert.deepEqual([placeOf(doc, fault(9, 7, 12))].map(({ from, to }) => [from, to]), [[6, 6]]);
});

test("while one types, faults before the line stay and others go, until new ones come", () => {
  const marked = begin("one\ntwo\nthree").update({ effects: setFaults.of([fault(1, 1, 4), fault(2, 1, 4), fault(3, 1, 6), fault(0, 0, 0)]) }).state;
  assert.deepEqual(underlined(marked), ["one", "two", "three"]);
  const typed = marked.update({ changes: { from: 5, insert: "x" } }).state;
  assert.deepEqual(underlined(typed), ["one"]);
  assert.deepEqual(underlined(typed.update({ effects: setFaults.of([fault(3, 1, 3)]) }).state), ["th"]);
  assert.deepEqual(underlined(marked.update({ changes: { from: 0, insert: "(* a *)\n" } }).state), []);
});
