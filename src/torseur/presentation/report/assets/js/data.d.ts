// What Python writes into a page, as `page_data` of page.py and the messages of the studio give it.

export type Vector = [number, number, number];
/** w, x, y, z, of length 1. */
export type Quaternion = [number, number, number, number];
/** Position and orientation of a body. */
export type Pose = [Vector, Quaternion];
/** Numbers as base64 text in a report, as bytes in a message of the studio. */
export type Packed = string | ArrayBuffer;
/** The name of a style variable, such as --body-3. */
export type ColourName = string;

/** Shapes in the frame of their body, in metres; `shade` multiplies the colour of the body. */
export interface Rod { kind: "capsule" | "cylinder" | "cone"; start: Vector; end: Vector; radius: number; shade: number }
export interface Ball { kind: "sphere"; centre: Vector; radius: number; shade: number }
export interface Box { kind: "box"; centre: Vector; size: Vector; turn: Quaternion; shade: number }
export interface Polyline { kind: "line"; points: Vector[]; shade: number }
/** Vertices and triangles in 16 bits a number; `unpackMesh` adds what it read out of them. */
export interface PackedMesh {
  kind: "mesh"; low: Vector; high: Vector; vertices: Packed; triangles: Packed; shade: number;
  points?: Float32Array; corners?: Uint16Array;
}
export type Shape = Rod | Ball | Box | Polyline | PackedMesh;

export interface Body { name: string; colour: ColourName; fixed: boolean; shapes: Shape[] }

/** Poses of all bodies as integers: position = origin + scale · integer, quaternion = integer / 32767. */
export interface PackedMotion { times: Packed; origin: Vector; scale: number; still: boolean[]; poses: Packed }

/** Places of some points by sample, three integers each. */
export interface PackedPlaces { count: number; origin: Vector; scale: number; steps: Packed }
export interface OverlayData {
  kind: "dots" | "arrows"; label: string; names: string[]; radius: number; colour: ColourName;
  places?: PackedPlaces; starts?: PackedPlaces; ends?: PackedPlaces;
}

export interface Trace { body: number; point: Vector; label?: string }
/** How a mechanism is first seen: angles in radians, `level` the height of the floor where it is given. */
export interface View {
  up: Vector; azimuth: number; elevation: number; start: number; floor: boolean; level?: number | null; traces: Trace[];
}
/** Bodies, pairs of bodies that joints hold together, and the first view. */
export interface SceneData { bodies: Body[]; joints: [number, number][]; view: View; overlays?: OverlayData[] }

export interface CurveData { label: string; colour: ColourName; dashed: boolean; values: Packed; band?: Packed | null }
/** `across` is the unit of the abscissa; `clock` gives the times, in seconds, of 0 and 100 percent. */
export interface PlotData {
  title: string; unit: string; times: Packed; across?: string; clock?: [number, number] | null; curves: CurveData[];
}

export interface PageData extends SceneData {
  title: string; motion: PackedMotion | null; plots: PlotData[]; terms: (Packed | null)[]; copies: Record<string, string>;
}

/** Bodies and joints, by number, that the pointer or the focus is at. */
export interface Pointed { bodies: number[]; joints: number[] }
/** What all views of a page share; `span` is the visible span of time, `trace` the number of the path that is shown. */
export interface ViewState { time: number; playing: boolean; pointed: Pointed; span: [number, number] | null; trace: number }

declare global {
  /** For tests and for whoever looks into a page: its parts by name. */
  interface Window { report: Record<string, unknown>; studio: unknown }
}
