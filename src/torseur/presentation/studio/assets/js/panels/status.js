// The line of words at the top, and the notice below it.
/** @import { Connection } from "../conversation/line.js" */
import { byId, make } from "../../../../report/assets/js/shared/elements.js";

export class Status {
  /** @param {HTMLElement} line @param {HTMLElement} bar */
  constructor(line, bar) {
    this.line = line;
    this.bar = bar;
    this.lost = false;
  }

  /** @param {string} text */
  say(text) {
    if (!this.lost) this.line.textContent = text;
  }

  /** Take a text away, if it still stands there. @param {string} text */
  unsay(text) {
    if (this.line.textContent === text) this.say("");
  }

  /** @param {boolean} busy */
  busy(busy) { this.line.classList.toggle("busy", busy && !this.lost); }

  /** @param {Connection} word */
  connection(word) {
    this.lost = word !== "open";
    this.line.classList.toggle("lost", this.lost);
    if (word === "lost") this.line.textContent = "no connection to the server; what you type is kept in this page";
    else if (word === "open") this.line.textContent = "";
    if (word === "taken over") this.notice("The studio is open in another page. This one has stopped.", { "Use this one": () => location.reload() });
    if (this.lost) this.line.classList.remove("busy");
  }

  /** @param {string} name @param {boolean} saved */
  file(name, saved) {
    const place = byId("file");
    place.textContent = name || "no file";
    place.classList.toggle("unsaved", Boolean(name) && !saved);
    place.title = saved ? "saved" : "not saved to the file; kept by the studio";
  }

  /** A notice with actions by the words on their buttons; an empty text takes it away. @param {string} text @param {Record<string, () => void>} [actions] */
  notice(text, actions = {}) {
    /** @param {string} name @param {() => void} act */
    const button = (name, act) => make("button", { type: "button", textContent: name, onclick: () => { this.bar.hidden = true; act(); } });
    this.bar.replaceChildren(make("span", { textContent: text }), ...Object.entries(actions).map(([name, act]) => button(name, act)), button("Close", () => {}));
    this.bar.hidden = !text;
  }
}
