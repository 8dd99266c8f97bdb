// Plots in a part of the page: kept while their curves stay the same, and only filled with new numbers.
/** @import { Arrays, PlotFrames } from "../messages.js" */
/** @import { Store } from "../../../../report/assets/js/shared/store.js" */
import { all } from "../../../../report/assets/js/shared/elements.js";
import { Plot } from "../../../../report/assets/js/plot/plot.js";
import { bindHighlight } from "../../../../report/assets/js/formulas/highlight.js";

export class Curves {
  /** @param {HTMLElement} root @param {Store} store */
  constructor(root, store) {
    this.root = root;
    this.store = store;
    /** @type {Plot[]} */
    this.plots = [];
    this.html = "";
    this.unbind = () => {};
  }

  /** Plots as the server describes them, and their numbers. @param {PlotFrames} plots @param {Arrays} arrays */
  show({ html, list }, arrays) {
    const data = list.map((plot, number) => ({
      ...plot, times: arrays[`plot-${number}-times`],
      curves: plot.curves.map((curve, k) => ({ ...curve, values: arrays[`plot-${number}-${k}`] })),
    }));
    if (html === this.html) return this.plots.forEach((plot, number) => plot.refill(data[number]));
    this.clear();
    this.html = html;
    this.root.innerHTML = html;
    this.plots = all(this.root, ".plot").map((element) => new Plot(element, data[Number(element.dataset.plot)], this.store));
    this.unbind = bindHighlight(this.store, [], null, this.root);
  }

  clear() {
    this.plots.forEach((plot) => plot.dispose());
    this.unbind();
    this.unbind = () => {};
    this.plots = [];
    this.html = "";
    this.root.replaceChildren();
  }
}
