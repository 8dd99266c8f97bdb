// Plots in a part of the page: kept while their curves stay the same, and only filled with new numbers.
import { Plot } from "../../report/js/plot.js";
import { bindHighlight } from "../../report/js/highlight.js";

export class Curves {
  constructor(root, store) {
    Object.assign(this, { root, store, plots: [], html: "" });
  }

  // Plots as the server describes them, {html, list}, and their numbers.
  show({ html, list }, arrays) {
    const data = list.map((plot, number) => ({
      ...plot, times: arrays[`plot-${number}-times`],
      curves: plot.curves.map((curve, k) => ({ ...curve, values: arrays[`plot-${number}-${k}`] })),
    }));
    if (html === this.html) return this.plots.forEach((plot, number) => plot.refill(data[number]));
    this.clear();
    this.html = html;
    this.root.innerHTML = html;
    this.plots = [...this.root.querySelectorAll(".plot")].map((element) => new Plot(element, data[element.dataset.plot], this.store));
    this.unbind = bindHighlight(this.store, [], null, this.root);
  }

  clear() {
    this.plots.forEach((plot) => plot.dispose());
    this.unbind?.();
    this.unbind = null;
    this.plots = [];
    this.html = "";
    this.root.replaceChildren();
  }
}
