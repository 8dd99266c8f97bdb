// The text: CodeMirror with the language, the faults and the keys of the studio, and the list of faults below it.
// Why CodeMirror, and what it costs: docs/decisions/0060-codemirror-in-the-studio.md.
/** @import { Fault } from "../messages.js" */
import { make } from "../../../../report/assets/js/shared/elements.js";
import { faultMarks, placeOf, setFaults } from "./faults.js";
import { languageOf } from "./language.js";
import { Annotation, Compartment, defaultKeymap, EditorState, EditorView, highlightSpecialChars, history, historyKeymap, isolateHistory, keymap, lineNumbers, redo } from "../vendor/codemirror.js";

const INDENT = "    ";
const MOST_LISTED = 20; // faults and remarks
const MOST_STEPS = 300; // that can be undone
const PAUSE_MS = 800; // typing that pauses longer is undone apart

const ON_SCREEN = /Android|Mobile/.test(navigator.userAgent);

// A change that the studio makes itself, of which it need not be told.
const own = Annotation.define();

/** How those who do not see the text know it. @type {Record<string, string>} */
const ATTRIBUTES = {
  id: "text", tabindex: "0", "aria-label": "Description of the mechanism, in LSD", "aria-describedby": "faults",
  spellcheck: "false", autocorrect: "off", autocapitalize: "off",
};

export class Editor {
  /**
   * @param {HTMLElement} root whose nonce allows CodeMirror its style
   * @param {HTMLElement} list of faults
   * @param {(text: string) => void} changed is called with every edit
   */
  constructor(root, list, changed) {
    this.list = list;
    this.changed = changed;
    this.leaving = false; // whether the next tab leaves the text
    this.language = new Compartment();
    /** @type {Iterable<string>} */
    this.words = [];
    this.extensions = [
      EditorView.cspNonce.of(root.nonce ?? ""),
      EditorView.contentAttributes.of(ATTRIBUTES),
      EditorView.lineWrapping,
      EditorState.tabSize.of(INDENT.length),
      lineNumbers(),
      highlightSpecialChars(),
      faultMarks,
      EditorView.domEventHandlers({ keydown: (event) => this.watch(event), beforeinput: (event) => this.type(event) }),
      keymap.of([
        { key: "Tab", run: () => this.indent() },
        { key: "Mod-y", run: redo, preventDefault: true },
        ...historyKeymap, ...defaultKeymap,
      ]),
      EditorView.updateListener.of(({ docChanged, transactions }) => {
        if (docChanged && !transactions.some((one) => one.annotation(own))) this.changed(this.text);
      }),
    ];
    this.view = new EditorView({ parent: root, state: this.begin("") });
  }

  /** A text without a past. @param {string} text */
  begin(text) {
    const past = history({ minDepth: MOST_STEPS, newGroupDelay: PAUSE_MS });
    return EditorState.create({ doc: text, extensions: [past, this.language.of(languageOf(this.words)), this.extensions] });
  }

  get text() { return this.view.state.doc.toString(); }

  /** Put another text in place of the present one; `undoable` leaves the way back open. @param {string} text @param {boolean} [undoable] */
  replace(text, undoable = false) {
    if (text === this.text) return;
    if (!undoable) return this.view.setState(this.begin(text));
    const { length } = this.view.state.doc;
    this.view.dispatch({
      changes: { from: 0, to: length, insert: text }, effects: setFaults.of([]), annotations: [own.of(true), isolateHistory.of("full")],
    });
  }

  /** The words of the language. @param {Iterable<string>} words */
  knows(words) {
    this.words = words;
    this.view.dispatch({ effects: this.language.reconfigure(languageOf(words)) });
  }

  /** Show faults in the text and below it. @param {Fault[]} faults */
  mark(faults) {
    this.view.dispatch({ effects: setFaults.of(faults) });
    const kept = make("p", { className: "remark", textContent: "The rest of the page shows the last text without faults." });
    this.list.replaceChildren(...(faults.length ? [this.listOf(faults), kept] : []));
  }

  /** What is doubtful in a text without faults. @param {string[]} texts */
  remark(texts) {
    this.list.replaceChildren(...texts.slice(0, MOST_LISTED).map((textContent) => make("p", { className: "remark", textContent })));
  }

  /** @param {Fault[]} faults */
  listOf(faults) {
    return make("ul", {}, ...faults.slice(0, MOST_LISTED).map((fault) => {
      const textContent = fault.line ? `Line ${fault.line}: ${fault.message}` : fault.message;
      const item = make("li", {}, make("button", { type: "button", textContent, onclick: () => this.goTo(fault) }));
      if (fault.hint) item.append(make("p", { className: "hint", textContent: fault.hint }));
      return item;
    }));
  }

  /** Select what is wrong. @param {Fault} fault */
  goTo(fault) {
    if (fault.line) {
      const { from, to } = placeOf(this.view.state.doc, fault);
      this.view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
    }
    this.view.focus();
  }

  // Escape, then Tab leaves the text. Redo is taken here, because the letter of Shift and Z depends on Caps Lock, by which
  // CodeMirror would take it for undo.
  /** @param {KeyboardEvent} event @returns {boolean} whether the key has been used */
  watch(event) {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
    this.leaving = key === "Escape" || (key === "Tab" && this.leaving);
    if (!(ctrlKey || metaKey) || !shiftKey || altKey || key.toLowerCase() !== "z") return false;
    event.preventDefault();
    redo(this.view);
    return true;
  }

  // What is typed is written by CodeMirror before the browser does: the browser would list up to a thousand edits for an
  // undo of its own, which is never asked for. Compositions, and keyboards on a screen, are left to the browser.
  /** @param {InputEvent} event */
  type(event) {
    if (event.inputType !== "insertText" || !event.data || event.isComposing || this.view.composing || ON_SCREEN) return false;
    event.preventDefault();
    this.view.dispatch(this.view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  }

  // Tab writes spaces in place of what is selected, unless the text is to be left.
  indent() {
    if (this.leaving) return false;
    this.view.dispatch(this.view.state.replaceSelection(INDENT), { userEvent: "input", scrollIntoView: true });
    return true;
  }
}
