// The colours of a description: comments, texts, numbers with their units, and the words of the language.
/** @import { StringStream } from "../vendor/codemirror.js" */
import { StreamLanguage, syntaxHighlighting, tagHighlighter, tags } from "../vendor/codemirror.js";

const TEXT = /^"(?:[^"\\\n]|\\.)*"?/;
const NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/;
const NAME = /^[\p{L}_][\p{L}\p{N}_]*/u;
// What follows a number and is neither a word of the language, nor the name of a function or of a part, nor a derivative.
const UNIT = /^[ \t]*[A-Za-zµ°]+(?:\^-?\d+)?(?:[*/][A-Za-zµ°]+(?:\^-?\d+)?)*(?![\w(.'])/u;

/**
 * Whether a comment is open at the end of a line, and whether a number has just been read.
 * @typedef {{ comment: boolean, number: boolean }} Reading
 */

/** What the next piece of a line is, and go past it. @param {StringStream} stream @param {Reading} state @param {Set<string>} words @returns {string | null} */
export function readPiece(stream, state, words) {
  const afterNumber = state.number;
  state.number = false;
  if (state.comment || stream.match("(*")) {
    state.comment = !stream.match(/^.*?\*\)/);
    if (state.comment) stream.skipToEnd();
    return "comment";
  }
  if (afterNumber) {
    const unit = stream.match(UNIT, false);
    if (unit && typeof unit === "object" && !words.has(unit[0].trim())) {
      stream.match(UNIT);
      return "unit";
    }
  }
  if (stream.eatSpace()) return null;
  if (stream.match(TEXT)) return "string";
  if (stream.match(NUMBER)) {
    state.number = true;
    return "number";
  }
  const name = stream.match(NAME);
  if (name && typeof name === "object") return words.has(name[0]) ? "keyword" : null;
  stream.next();
  return null;
}

/** The language with these words, and the classes of its pieces in studio/assets/editor.css. @param {Iterable<string>} words */
export function languageOf(words) {
  const known = new Set(words);
  const language = StreamLanguage.define({
    name: "lsd",
    /** @returns {Reading} */
    startState: () => ({ comment: false, number: false }),
    token: (stream, state) => readPiece(stream, state, known),
    languageData: { commentTokens: { block: { open: "(*", close: "*)" } } },
  });
  return [language, syntaxHighlighting(tagHighlighter([
    { tag: tags.keyword, class: "word" }, { tag: tags.number, class: "number" }, { tag: tags.unit, class: "unit" },
    { tag: tags.string, class: "string" }, { tag: tags.comment, class: "comment" },
  ]))];
}
