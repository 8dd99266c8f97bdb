// What the studio uses of CodeMirror 6, to be bundled into one file: see bundle.js. Types: vendor/codemirror.d.ts.
export { Annotation, Compartment, EditorState, RangeSet, StateEffect, StateField, Transaction } from "@codemirror/state";
export { Decoration, EditorView, GutterMarker, gutterLineClass, highlightSpecialChars, keymap, lineNumbers, WidgetType } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, isolateHistory, redo } from "@codemirror/commands";
export { StreamLanguage, syntaxHighlighting } from "@codemirror/language";
export { tagHighlighter, tags } from "@lezer/highlight";
