// Texts in the picture: letters of the page over the canvas, at points of bodies.
/** @import { Label, Vector } from "../data.js" */
/** @import { Stage } from "./stage.js" */
import { make } from "../shared/elements.js";
import { add, norm, project, rotate, scale, subtract } from "../numbers/linear.js";

const LEAST = 9, MOST = 60; // pixels of letters

export class Labels {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.root = make("div", { className: "labels" });
    this.root.setAttribute("aria-hidden", "true");
    stage.canvas.after(this.root);
    /** @type {{ body: number, label: Label, element: HTMLElement }[]} */
    this.all = [];
  }

  // Texts of the bodies that are shown now.
  gather() {
    this.all = this.stage.bodies.flatMap(({ shapes, colour }, body) => shapes.flatMap((label) => {
      if (label.kind !== "label") return [];
      const element = make("span", { textContent: label.text });
      const [red, green, blue] = (label.paint ?? []).map((part) => Math.round(255 * part));
      element.style.color = label.paint ? `rgb(${red} ${green} ${blue})` : `var(${colour})`;
      return [{ body, label, element }];
    }));
    this.root.replaceChildren(...this.all.map(({ element }) => element));
  }

  place() {
    if (!this.all.length) return;
    const { stage } = this, { canvas, camera } = stage, matrix = camera.matrix(), poses = stage.poses(), { up } = camera.axes();
    /** @param {Vector} point @returns {Vector} */
    const onScreen = (point) => {
      const [x, y, , w] = project(matrix, point);
      return [(x / w * 0.5 + 0.5) * canvas.clientWidth, (0.5 - y / w * 0.5) * canvas.clientHeight, 0];
    };
    for (const { body, label, element } of this.all) {
      const [p, q] = poses[body], point = add(p, rotate(q, label.centre)), here = onScreen(point);
      element.style.left = `${here[0]}px`;
      element.style.top = `${here[1]}px`;
      if (!label.height) continue;
      const size = norm(subtract(onScreen(add(point, scale(up, label.height))), here));
      element.style.fontSize = `${Math.max(LEAST, Math.min(MOST, size))}px`;
    }
  }
}
