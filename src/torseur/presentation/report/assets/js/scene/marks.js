// Marks that stay with bodies and are shown when asked for: axes of frames, and the mass centre of the whole.
/** @import { MarksData, MassData, Vector } from "../data.js" */
/** @import { Motion } from "../numbers/decode.js" */
/** @import { Piece } from "./overlays.js" */
import { add, rotate, scale } from "../numbers/linear.js";
import { arrow, ball } from "./overlays.js";

const THICK = 0.045; // of an axis' length
const BALL = 0.24;
/** @type {[string, Vector][]} */
const AXES = [["--axis-x", [1, 0, 0]], ["--axis-y", [0, 1, 0]], ["--axis-z", [0, 0, 1]]];

/** What is drawn in one colour: one axis of all frames, or the mass centre. */
class Mark {
  /** @param {"arrows" | "dots"} kind @param {string} colour @param {() => boolean} isShown @param {(t: number) => Piece[]} pieces */
  constructor(kind, colour, isShown, pieces) {
    this.kind = kind;
    this.colour = colour;
    this.isShown = isShown;
    this.pieces = pieces;
  }

  /** They are small, and stay with bodies that are framed. @returns {Vector[]} */
  tips() { return []; }

  /** @param {number} t */
  shapes(t) { return this.isShown() ? this.pieces(t) : []; }
}

/** The marks of a scene along a motion. @param {MarksData} marks @param {MassData[]} masses @param {Motion} motion @param {Set<string>} shown "frames", "centre" */
export function marksOf({ frames, length }, masses, motion, shown) {
  const axes = AXES.map(([colour, axis]) => new Mark("arrows", colour, () => shown.has("frames"), (t) => frames.flatMap(({ body, point, turn }) => {
    const [p, q] = motion.pose(body, t), start = add(p, rotate(q, point));
    return arrow(start, add(start, scale(rotate(q, rotate(turn, axis)), length)), THICK * length);
  })));
  const total = masses.reduce((sum, { mass }) => sum + mass, 0);
  const centre = new Mark("arrows", "--mass-centre", () => shown.has("centre") && total > 0, (t) => {
    /** @type {Vector} */
    let at = [0, 0, 0];
    for (const { body, mass, point } of masses) {
      const [p, q] = motion.pose(body, t);
      at = add(at, scale(add(p, rotate(q, point)), mass / total));
    }
    return [ball(at, BALL * length)];
  });
  return [...axes, centre];
}
