// Types of what the bundle holds; they come from the packages it is made of (tools/web).
export { Annotation, Compartment, EditorState, RangeSet, StateEffect, StateField, Transaction } from "@codemirror/state";
export { Decoration, EditorView, GutterMarker, gutterLineClass, highlightSpecialChars, keymap, lineNumbers, WidgetType } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, isolateHistory, redo } from "@codemirror/commands";
export { StreamLanguage, syntaxHighlighting } from "@codemirror/language";
export { tagHighlighter, tags } from "@lezer/highlight";

export type { DecorationSet } from "@codemirror/view";
export type { Range, Text } from "@codemirror/state";
export type { StringStream } from "@codemirror/language";
