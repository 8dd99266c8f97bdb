// What the page of the studio and its server say to each other; messages.py and the answers are the other side.
import type { MassData, OverlayData, Packed, PackedMotion, PlotData, SceneData, Vector } from "../../../report/assets/js/data.js";

export type Numbers = Record<string, number>;

/** What is written and chosen; `values` and `initial` differ from those of the text. */
export interface State {
  text: string; revision: number; values: Numbers; initial: Numbers; until: number;
  formalism: string; level: string; criterion: string; outputs: string; over: string; arrows: string; suspension: string; name: string;
}

/** A fault at a place of the text, counted from 1, `end` the column behind it; line 0 stands for the whole text. */
export interface Fault { line: number; column: number; end: number; message: string; hint: string }

/** A parameter or a coordinate; `value` is null where nobody gives one, `symbol` is MathML, `formula` says what it follows from. */
export interface Quantity { name: string; value: number | null; unit: string; meaning: string; symbol: string; formula?: string }

/** The least and the largest value of coordinates of a robot, null where there is none. */
export type Limits = Record<string, [number | null, number | null]>;

/** A point of a body that moves with a coordinate, in body axes, and how far it moves per unit of it, in world axes. */
/** `moves` are there for a hand: where its point goes per unit of each coordinate. */
export interface Handle { name: string; body: number; point: Vector; move: Vector; moves?: Record<string, Vector> }

/** Markup of some plots and what they show; their numbers are arrays plot-NUMBER-CURVE. */
export interface PlotFrames { html: string; list: Omit<PlotData, "times">[] }
/** Bytes by name, behind the head of a binary message. */
export type Arrays = Record<string, ArrayBuffer>;

export interface LibraryEntry { name: string; use: string; title: string }
/** What the page offers to choose from, and the words of the language. */
export interface Offer { formalisms: Record<string, string>; levels: string[]; library: LibraryEntry[]; targets: string[]; words: string[] }

export interface Outline {
  name: string; title: string; summary: string[]; warnings: string[]; bodies: string[]; joints: string[]; graph: string;
  parameters: Quantity[]; following: Quantity[]; start: Quantity[]; coordinates: string[]; criteria: string[];
  loops: number; closed: boolean;
}

/** A motion; `scene` is null where the page has these shapes, and `moving` false while the motion is being compiled. */
export interface MotionAnswer {
  moving: boolean; notes: string[]; poses: Omit<PackedMotion, "times" | "poses" | "masses" | "overlays">; masses: MassData[]; overlays: OverlayData[]; shapes: string; scene: SceneData | null;
  plots: PlotFrames; crossplots: string; handles: Handle[]; start: Numbers; arrays: Arrays & { times: Packed; poses: Packed };
}

/** The answers of the server by kind. */
export interface Answers {
  hello: Offer & { state: State; file: string; saved: boolean; recovered: boolean; limits: Limits };
  faults: { faults: Fault[] };
  outline: Outline;
  equations: { html: string; reason: string; copies: Record<string, string> };
  definitions: { rows: Record<string, string>; copies: Record<string, string> };
  motion: MotionAnswer;
  derivatives: { reason: string; html: string; plots: PlotFrames; arrays: Arrays };
  suspension: { html: string; reason: string };
  loops: { html: string; reason: string; branches: PackedMotion[] };
  halt: { reason: string };
  done: object;
  file: { name: string; type: string; body: ArrayBuffer };
  opened: { text: string; name: string };
  inscribed: { text: string };
  kept: { saved: boolean; revision: number };
  unkept: { reason: string };
  saved: object;
  conflict: { reason: string };
  refusal: { reason: string };
}
export type Kind = keyof Answers;
/** An answer carries the number of its question. */
export type Answer<K extends Kind = Kind> = { [k in K]: { kind: k; number: number } & Answers[k] }[K];

/** Questions about a text, of which at most one of each kind is under way. */
export type QuestionKind = "describe" | "move" | "examine" | "survey";
/** What a question carries: everything that its answer depends on. */
export interface Question extends Partial<Omit<State, "revision" | "name">> { text: string; known?: string; what?: string; detail?: string }
