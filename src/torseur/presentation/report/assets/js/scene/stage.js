// What the animation shows, apart from how it is drawn: bodies, motion, camera, floor, colours, and what is pointed at.
/** @import { Body, ElementData, MarksData, MassData, OverlayData, PackedMotion, Pose, SceneData, Trace, Vector, View } from "../data.js" */
/** @import { Store } from "../shared/store.js" */
/** Red, green, blue between 0 and 1. @typedef {Vector} Colour */
/**
 * @typedef {{ shadow: number, exposure: number, sky: Colour, ground: Colour, gridColour: Colour, accent: Colour,
 *   element: Colour, bodyColours: Colour[], overlayColours: Colour[] }} Palette
 */
import { Camera, FIELD_OF_VIEW } from "./camera.js";
import { Motion } from "../numbers/decode.js";
import { add, norm, rotate, scale, subtract, unit } from "../numbers/linear.js";
import { Labels } from "./labels.js";
import { enclosure } from "./meshes.js";
import { Overlay } from "./overlays.js";
import { marksOf } from "./marks.js";
import { nearestBody } from "./pick.js";

const SAMPLES = 40;
/** What `trace` says beside the number of a path. */
export const NO_PATH = -1;
export const ALL_PATHS = -2;
export const DRAWN_PATHS = -3;
const LINE_THICKNESS = 0.004;
// A mechanism that travels farther than this many times its own size is followed by the camera.
const LONG_WAY = 0.9;
// The lamp stands to the right of the first view, half way up.
const LAMP = { aside: 0.75, height: 0.95 };

// A picture whose bodies need so much more, or so much less room, is framed anew.
const TOO_FAR = 3;
// A robot that nobody drives falls and flails: it is framed as it stands, with this much room around it.
const ROOM = 1.3;
const TOO_WIDE = 1.2, TOO_NARROW = 0.5;

export class Stage {
  /** @param {SceneData & { motion: PackedMotion }} data @param {Store} store @param {HTMLCanvasElement} canvas */
  constructor(data, store, canvas) {
    this.store = store;
    this.canvas = canvas;
    this.labels = new Labels(this);
    this.steered = false; // whether somebody has turned the camera
    /** The time of a branch that is played in place of the motion. @type {number | null} */
    this.clock = null;
    /** @type {Palette | null} */
    this.palette = null;
    /** Places of the path of each trace. @type {Vector[][]} */
    this.paths = [];
    /** @type {(Overlay | ReturnType<typeof marksOf>[number])[]} */
    this.overlays = [];
    /** Which marks are shown: "frames", "centre". @type {Set<string>} */
    this.marked = new Set();
    /** The moving bodies, and where they are on the whole: at the start, and when they were last followed. @type {number[]} */
    this.movers = [];
    /** @type {Vector} */
    this.origin = [0, 0, 0];
    /** @type {Vector} */
    this.seen = [0, 0, 0];
    this.following = false;
    this.falling = false;
    /** Points that must be in the picture. @type {Vector[]} */
    this.points = [];
    this.lineRadius = 0;
    /** @type {{ floorHeight: number, cell: number, reach: number } | null} */
    this.floor = null;
    this.camera = new Camera(data.view.azimuth, data.view.elevation);
    this.light = lampDirection(data.view.azimuth + LAMP.aside, LAMP.height);
    this.showBodies(data);
    this.showMotion(data.motion);
    this.frame();
  }

  /** Bodies, and from where they are first seen. @param {SceneData} scene */
  showBodies(scene) {
    /** @type {Body[]} */
    this.bodies = scene.bodies;
    /** @type {[number, number][]} */
    this.joints = scene.joints;
    /** @type {View} */
    this.view = scene.view;
    /** @type {Trace[]} */
    this.traces = scene.view.traces;
    /** @type {OverlayData[]} */
    this.overlayData = scene.overlays ?? [];
    /** @type {MarksData | undefined} */
    this.marks = scene.marks;
    /** @type {ElementData[]} */
    this.elements = scene.elements ?? [];
    this.camera.home = { azimuth: scene.view.azimuth, elevation: scene.view.elevation };
    this.palette = null;
    this.labels.gather();
    /** @type {Vector[][]} */
    this.enclosures = scene.bodies.map((body) => body.shapes.flatMap(enclosure));
    /** A ball around each body. @type {{ centre: Vector, radius: number }[]} */
    this.reaches = this.enclosures.map(ballAround);
  }

  /** @param {PackedMotion} motion */
  showMotion(motion) {
    /** @type {MassData[]} */
    this.masses = motion.masses ?? [];
    if (motion.overlays) this.overlayData = motion.overlays;
    /** The motion of the mechanism, also while a branch is played. @type {Motion} */
    this.whole = new Motion(motion, this.view.up);
    this.endBranch();
  }

  /** A motion into a branch in place of the motion of the mechanism, without what goes with the samples of that. @param {PackedMotion} branch */
  showBranch(branch) {
    this.clock = 0;
    this.take(new Motion(branch, this.view.up), []);
  }

  endBranch() {
    this.clock = null;
    this.take(this.whole, this.overlayData);
  }

  /** @param {Motion} motion @param {OverlayData[]} overlays */
  take(motion, overlays) {
    /** What is shown. @type {Motion} */
    this.motion = motion;
    const marks = this.marks ? marksOf(this.marks, this.masses, motion, this.marked) : [];
    this.overlays = [...overlays.map((overlay) => new Overlay(overlay, motion)), ...marks];
    this.palette = null; // overlays have their colours there
    this.paths = this.traces.map(({ body, point }) => motion.path(body, point));
  }

  // Find the place of the camera and of the floor.
  frame() {
    this.measureWay(this.view.start);
    this.home();
    this.lineRadius = this.camera.size * LINE_THICKNESS;
    this.floor = this.view.floor && !this.falling ? this.makeFloor(this.view.level) : null;
  }

  // Whether the bodies no longer fit the picture they were framed for.
  hasOutgrown() {
    const size = spread(this.visitedPoints()) / spread(this.points);
    return size > TOO_WIDE || size < TOO_NARROW;
  }

  // A branch of the loops is played on a clock of its own, so that plots stay with the motion that they show.
  time() { return this.clock ?? this.store.state.time; }

  // Bodies to light up: those pointed at, or both bodies of a joint pointed at.
  highlightedBodies() {
    const { bodies, joints } = this.store.state.pointed;
    return new Set(bodies.length ? bodies : joints.flatMap((joint) => this.joints[joint]));
  }

  /** The paths that are shown: their number and colour. @returns {{ index: number, colour: Colour }[]} */
  shownPaths() {
    const chosen = this.store.state.trace, { bodyColours } = this.colours();
    return this.traces.flatMap(({ body, shown, paint }, index) => {
      const wanted = chosen === index || chosen === ALL_PATHS || (chosen === DRAWN_PATHS && shown);
      return wanted ? [{ index, colour: paint ? [paint[0], paint[1], paint[2]] : bodyColours[body] }] : [];
    });
  }

  /** Where the anchors of an element are. @param {ElementData} element @param {Pose[]} poses @returns {Vector[]} */
  static anchorsOf({ anchors }, poses) {
    return anchors.map(({ body, point }) => add(poses[body][0], rotate(poses[body][1], point)));
  }

  poses() { return this.bodies.map((_, body) => this.motion.pose(body, this.time())); }

  // Where the moving bodies are on the whole, and whether they go a long way.
  /** @param {number} start */
  measureWay(start) {
    this.movers = this.bodies.map((_, k) => k).filter((k) => !this.motion.still[k] && this.enclosures[k].length);
    this.origin = this.middle(start);
    this.following = true;
    this.falling = true;
    const way = [...this.motion.times].map((t) => this.middle(t)), local = spread(this.visitedPoints());
    this.following = spread(way) > LONG_WAY * local;
    this.falling = this.following && spread(way.map((p) => [0, 0, p[2]])) > LONG_WAY * local;
    this.seen = this.origin;
  }

  /** @param {number} t */
  middle(t) {
    const sum = this.movers.reduce((total, k) => add(total, this.motion.pose(k, t)[0]), /** @type {Vector} */ ([0, 0, 0]));
    return scale(sum, 1 / Math.max(1, this.movers.length));
  }

  // Keep the moving bodies where they are in the picture.
  follow() {
    if (!this.following) return;
    const now = this.middle(this.time());
    this.camera.target = add(this.camera.target, this.carryOver(subtract(now, this.seen)));
    this.seen = now;
  }

  /** The part of a displacement that a following camera makes with the bodies: along the floor, or all of it in a fall. @param {Vector} way @returns {Vector} */
  carryOver(way) { return this.falling ? way : [way[0], way[1], 0]; }

  /** @param {boolean} following */
  setFollowing(following) {
    this.following = following;
    this.home();
  }

  // Points that bodies reach during the motion; seen from a camera that follows, or from a fixed one.
  visitedPoints() {
    /** @type {Vector[]} */
    const points = [];
    const { times } = this.motion, stride = Math.max(1, Math.floor(times.length / SAMPLES));
    let first = 0;
    for (let k = 0; k < times.length; k += stride) {
      if (k > 0 && this.view.near) break;
      // What flies apart is framed as it begins.
      if (k === stride) first = spread(points);
      if (k > stride && first > 0 && spread(points) > TOO_FAR * first) break;
      /** @type {Vector} */
      const shift = this.following ? this.carryOver(subtract(this.middle(times[k]), this.origin)) : [0, 0, 0];
      this.enclosures.forEach((corners, body) => {
        if (this.motion.still[body] && (k > 0 || this.following)) return;
        const [p, q] = this.motion.sample(body, k);
        for (const corner of corners) points.push(subtract(add(p, rotate(q, corner)), shift));
      });
      const poses = this.bodies.map((_, body) => this.motion.sample(body, k));
      for (const element of this.elements) {
        for (const place of Stage.anchorsOf(element, poses)) points.push(subtract(place, shift));
      }
      for (const tip of this.overlays.flatMap((overlay) => overlay.tips(k))) points.push(subtract(tip, shift));
    }
    if (!this.view.near) return points;
    const middle = scale(points.reduce((sum, point) => add(sum, point), [0, 0, 0]), 1 / Math.max(1, points.length));
    return points.map((point) => add(middle, scale(subtract(point, middle), ROOM)));
  }

  // The spacing of the grid, seen flat or on the floor.
  cell() { return this.floor && !this.camera.flat ? this.floor.cell : roundLength(this.camera.distance / 16); }

  /** A floor at its level or just below everything, with a grid of round spacing. @param {number | null} [level] */
  makeFloor(level) {
    const { size } = this.camera;
    return { floorHeight: level ?? Math.min(...this.points.map((p) => p[2])) - 0.06 * size, cell: roundLength(size / 6), reach: 2.1 * size };
  }

  home() {
    this.camera.flat = Boolean(this.view.flat);
    this.camera.look(this.camera.home.azimuth, this.camera.home.elevation);
    this.frameAll();
  }

  /** @param {string | undefined} name */
  lookFrom(name) {
    if (name === "space") {
      this.camera.flat = !this.camera.flat;
      if (!this.camera.flat && this.view.flat) this.camera.look(this.camera.home.azimuth + 0.7, 0.35);
    }
    if (name === "front") this.camera.look(-Math.PI / 2, 0.02);
    else if (name === "side") this.camera.look(0, 0.02);
    else if (name === "top") this.camera.look(-Math.PI / 2, 1.5);
    this.frameAll();
  }

  frameAll() {
    this.points = this.visitedPoints();
    this.camera.fit(this.points);
    this.seen = this.origin;
    this.follow();
  }

  // The directions of the picture's right and upper edge and towards the viewer, for rays through pixels; seen flat they
  // are as long as half the picture.
  rays() {
    const { right, up, out } = this.camera.axes(), { flat, distance, aspect } = this.camera;
    const high = Math.tan(FIELD_OF_VIEW / 2) * (flat ? distance : 1);
    return { right: scale(right, high * aspect), up: scale(up, high), out_: out, centre: this.camera.target, flat_: flat ? 1 : 0 };
  }

  /** The body under a pointer event, or null. @param {PointerEvent} event */
  under(event) {
    const box = this.canvas.getBoundingClientRect(), { right, up, out_ } = this.rays();
    const x = (2 * (event.clientX - box.left)) / box.width - 1, y = 1 - (2 * (event.clientY - box.top)) / box.height;
    const aside = add(scale(right, x), scale(up, y)), { flat } = this.camera;
    const ray = flat ? scale(out_, -1) : unit(subtract(aside, out_)), eye = flat ? add(this.camera.eye(), aside) : this.camera.eye();
    const poses = this.bodies.map((_, body) => this.motion.pose(body, this.time()));
    return nearestBody(eye, ray, this.bodies, poses, this.lineRadius * 2);
  }

  /** Read the colours of the present theme. @returns {Palette} */
  readColours() {
    const style = getComputedStyle(this.canvas);
    /** @param {string} name */
    const colour = (name) => components(style.getPropertyValue(name).trim());
    const dark = colour("--ground")[1] < 0.5;
    this.palette = {
      shadow: dark ? 0.55 : 0.26, exposure: dark ? 0.8 : 1,
      sky: colour("--sky"), ground: colour("--ground"), gridColour: colour("--grid"), accent: colour("--accent"), element: colour("--element"),
      bodyColours: this.bodies.map((body) => colour(body.colour)),
      overlayColours: this.overlays.map((overlay) => colour(overlay.colour)),
    };
    return this.palette;
  }

  colours() { return this.palette ?? this.readColours(); }
}

/** Length of the diagonal of a box around some points. @param {Vector[]} points */
function spread(points) {
  /** @type {Vector} */
  const low = [Infinity, Infinity, Infinity], /** @type {Vector} */ high = [-Infinity, -Infinity, -Infinity];
  for (const point of points) {
    for (let i = 0; i < 3; i++) {
      if (point[i] < low[i]) low[i] = point[i];
      if (point[i] > high[i]) high[i] = point[i];
    }
  }
  return norm(subtract(high, low));
}

/** @param {number} azimuth @param {number} height @returns {Vector} */
const lampDirection = (azimuth, height) => [Math.cos(azimuth) * Math.cos(height), Math.sin(azimuth) * Math.cos(height), Math.sin(height)];

/** Middle and radius of a ball around some points. @param {Vector[]} points @returns {{ centre: Vector, radius: number }} */
function ballAround(points) {
  if (!points.length) return { centre: [0, 0, 0], radius: 0 };
  /** @param {number} i */
  const between = (i) => (Math.min(...points.map((p) => p[i])) + Math.max(...points.map((p) => p[i]))) / 2;
  /** @type {Vector} */
  const middle = [between(0), between(1), between(2)];
  return { centre: middle, radius: Math.max(...points.map((p) => norm(subtract(p, middle)))) };
}

/** The nearest of 1, 2, 5 times a power of ten. @param {number} length */
function roundLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  return power * [1, 2, 5, 10].reduce((best, step) => (Math.abs(step - length / power) < Math.abs(best - length / power) ? step : best));
}

/** A colour such as #3b82f6. @param {string} hex @returns {Colour} */
function components(hex) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
  return [red, green, blue];
}
