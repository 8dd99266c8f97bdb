// The line of words at the top, and the notice below it.

export class Status {
  constructor(line, notice) {
    Object.assign(this, { line, bar: notice });
  }

  say(text) {
    if (!this.lost) this.line.textContent = text;
  }

  // Take a text away, if it still stands there.
  unsay(text) {
    if (this.line.textContent === text) this.say("");
  }

  busy(busy) { this.line.classList.toggle("busy", busy && !this.lost); }

  connection(word) {
    this.lost = word !== "open";
    this.line.classList.toggle("lost", this.lost);
    if (word === "lost") this.line.textContent = "the server is away; what you type is kept here";
    else if (word === "open") this.line.textContent = "";
    if (word === "taken over") this.notice("The studio is open in another page. This one has stopped.", { "Use this one": () => location.reload() });
    if (this.lost) this.line.classList.remove("busy");
  }

  file(name, saved) {
    const place = document.getElementById("file");
    place.textContent = name || "no file";
    place.classList.toggle("unsaved", Boolean(name) && !saved);
    place.title = saved ? "saved" : "not saved to the file; kept by the studio";
  }

  // A notice with actions {text: act}; an empty text takes it away.
  notice(text, actions = {}) {
    const words = Object.assign(document.createElement("span"), { textContent: text });
    const button = (name, act) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: name });
      made.addEventListener("click", () => { this.bar.hidden = true; act(); });
      return made;
    };
    this.bar.replaceChildren(words, ...Object.entries(actions).map(([name, act]) => button(name, act)), button("Close", () => {}));
    this.bar.hidden = !text;
  }
}
