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

/** Red, green, blue and opacity, from 0 to 1. */
export type Paint = [number, number, number, number];
/** `shade` multiplies the colour of the body; a `paint` stands in its place. */
export interface Coat { shade: number; paint?: Paint }
/** Shapes in the frame of their body, in metres. */
export interface Rod extends Coat { kind: "capsule" | "cylinder" | "cone"; start: Vector; end: Vector; radius: number }
export interface Tube extends Coat { kind: "tube"; start: Vector; end: Vector; radius: number; inner: number }
export interface Ring extends Coat { kind: "ring"; centre: Vector; axis: Vector; radius: number; wire: number }
export interface Ball extends Coat { kind: "sphere"; centre: Vector; radius: number }
/** `size` holds the edges of a box, the half axes of an ellipsoid. */
export interface Box extends Coat { kind: "box"; centre: Vector; size: Vector; turn: Quaternion }
export interface Ellipsoid extends Coat { kind: "ellipsoid"; centre: Vector; size: Vector; turn: Quaternion }
export interface Polyline extends Coat { kind: "line"; points: Vector[]; radius?: number }
export interface Label extends Coat { kind: "label"; centre: Vector; text: string; height: number }
/** Vertices and triangles in 16 bits a number; `unpackMesh` adds what it read out of them. */
export interface PackedMesh extends Coat {
  kind: "mesh"; low: Vector; high: Vector; vertices: Packed; triangles: Packed;
  points?: Float32Array; corners?: Uint16Array;
}
export type Shape = Rod | Tube | Ring | Ball | Box | Ellipsoid | Polyline | Label | PackedMesh;

export interface Body { name: string; colour: ColourName; fixed: boolean; shapes: Shape[] }

/** Poses of all bodies as integers: position = origin + scale · integer, quaternion = integer / 32767; their masses where a page marks the mass centre, and overlays that belong to this motion. */
export interface PackedMotion { times: Packed; origin: Vector; scale: number; still: boolean[]; poses: Packed; masses?: MassData[]; overlays?: OverlayData[] }

/** Places of some points by sample, three integers each. */
export interface PackedPlaces { count: number; origin: Vector; scale: number; steps: Packed }
export interface OverlayData {
  kind: "dots" | "arrows"; label: string; names: string[]; radius: number; colour: ColourName;
  places?: PackedPlaces; starts?: PackedPlaces; ends?: PackedPlaces;
}

/** Axes of frames, placed by the poses of bodies; `length` is that of an axis. */
export interface MarksData { frames: { name: string; body: number; point: Vector; turn: Quaternion }[]; length: number }
/** The mass of a body and its centre there. */
export interface MassData { body: number; mass: number; point: Vector }

/** A point of a body; a rope is wound about it with a radius, negative on the other side. */
export interface Anchor { body: number; point: Vector; radius: number }
/** What stretches between points of bodies; `radius` of the whole, `wire` of what it is made of. */
export interface ElementData {
  kind: "coil" | "damper" | "rod" | "rope" | "arrow"; anchors: Anchor[]; radius: number; wire: number; turns: number; label: string; paint?: Paint;
}

export interface Trace { body: number; point: Vector; label?: string; shown?: boolean; paint?: Paint }
/** How a mechanism is first seen: angles in radians, `level` the height of the floor where it is given. */
export interface View {
  up: Vector; azimuth: number; elevation: number; start: number; floor: boolean; level?: number | null; flat?: boolean; near?: boolean; traces: Trace[];
}
/** Bodies, pairs of bodies that joints hold together, and the first view. */
export interface SceneData { bodies: Body[]; joints: [number, number][]; view: View; elements?: ElementData[]; overlays?: OverlayData[]; marks?: MarksData }

export interface CurveData { label: string; colour: ColourName; dashed: boolean; values: Packed; band?: Packed | null }
/** `across` is the unit of the abscissa; `clock` gives the times, in seconds, of 0 and 100 percent. */
export interface PlotData {
  title: string; unit: string; times: Packed; across?: string; clock?: [number, number] | null; curves: CurveData[];
}

/** A quantity along the motion: a unit, and integers that count it. */
export type PackedCourse = [number, Packed];

export interface PageData extends SceneData {
  title: string; motion: PackedMotion | null; plots: PlotData[]; terms: (PackedCourse | null)[]; copies: Record<string, string>;
  branches: PackedMotion[];
}

/** Bodies and joints, by number, that the pointer or the focus is at. */
export interface Pointed { bodies: number[]; joints: number[] }
/** What all views of a page share; `span` is the visible span of time, `trace` the number of the path that is shown, or one of NO_PATH, ALL_PATHS, DRAWN_PATHS. */
export interface ViewState { time: number; playing: boolean; pointed: Pointed; span: [number, number] | null; trace: number }

declare global {
  /** For tests and for whoever looks into a page: its parts by name. */
  interface Window { report: Record<string, unknown>; studio: unknown }
}
