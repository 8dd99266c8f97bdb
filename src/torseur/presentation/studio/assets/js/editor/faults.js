// Faults where they stand in the text: underlined, named behind their line, and their line numbers set apart.
/** @import { DecorationSet, Range, Text } from "../vendor/codemirror.js" */
/** @import { Fault } from "../messages.js" */
import { Decoration, EditorView, GutterMarker, gutterLineClass, RangeSet, StateEffect, StateField, WidgetType } from "../vendor/codemirror.js";

/** Faults to be shown in place of those that are. @type {ReturnType<typeof StateEffect.define<Fault[]>>} */
export const setFaults = StateEffect.define();

const UNDERLINE = Decoration.mark({ class: "fault" });
const WRONG_LINE = Decoration.line({ class: "wrong" });
const WRONG_NUMBER = new (class extends GutterMarker { elementClass = "wrong"; })();

/** The message of a fault, behind its line. */
class Message extends WidgetType {
  /** @param {string} text */
  constructor(text) {
    super();
    this.text = text;
  }

  /** @param {Message} other */
  eq(other) { return other.text === this.text; }

  toDOM() { return Object.assign(document.createElement("span"), { className: "said", textContent: this.text }); }
}

/**
 * Where a fault stands, as offsets into the text; at least one letter of its line, where there is one. The server counts
 * columns in characters of Unicode, the page in halves of them.
 * @param {Text} text
 * @param {Fault} fault
 */
export function placeOf(text, { line, column, end }) {
  const row = text.line(Math.max(1, Math.min(line, text.lines))), letters = [...row.text];
  /** @param {number} count */
  const offset = (count) => row.from + letters.slice(0, count).join("").length;
  return { row, from: offset(column - 1), to: offset(Math.max(end, column + 1) - 1) };
}

/** @param {Text} text @param {Fault[]} faults @returns {DecorationSet} */
function decorate(text, faults) {
  /** @type {Range<Decoration>[]} */
  const ranges = [];
  const lines = new Set();
  for (const fault of faults) {
    if (fault.line < 1 || fault.line > text.lines) continue; // one of the whole text
    const { row, from, to } = placeOf(text, fault);
    if (to > from) ranges.push(UNDERLINE.range(from, to));
    if (lines.has(row.number)) continue; // the first of a line is named
    lines.add(row.number);
    ranges.push(WRONG_LINE.range(row.from), Decoration.widget({ widget: new Message(fault.message), side: 1 }).range(row.to));
  }
  return Decoration.set(ranges, true);
}

// While one types, old faults stay with lines before the edit and go away from the others, until new ones come.
const marks = StateField.define({
  create: () => Decoration.none,
  update: (shown, transaction) => {
    for (const effect of transaction.effects) {
      if (effect.is(setFaults)) return decorate(transaction.newDoc, effect.value);
    }
    if (!transaction.docChanged) return shown;
    let first = Infinity;
    transaction.changes.iterChangedRanges((from) => { first = Math.min(first, from); });
    const line = transaction.startState.doc.lineAt(first).from;
    return shown.update({ filter: (from) => from < line }).map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const numbers = gutterLineClass.compute([marks], (state) => {
  /** @type {Range<GutterMarker>[]} */
  const lines = [];
  state.field(marks).between(0, state.doc.length, (from, _, { spec }) => { if (spec.class === "wrong") lines.push(WRONG_NUMBER.range(from)); });
  return RangeSet.of(lines, true);
});

export const faultMarks = [marks, numbers];
