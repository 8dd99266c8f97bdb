// The text: a textarea for writing, and below it the same text in colours, with faults where they stand.

const LONGEST_COLOURED = 120000;
const PIECES = /(?<comment>\(\*[\s\S]*?(?:\*\)|$))|(?<string>"(?:[^"\\\n]|\\.)*"?)|(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?<unit>[ \t]*[A-Za-zµ°]+(?:\^-?\d+)?(?:[*/][A-Za-zµ°]+(?:\^-?\d+)?)*(?![\w(.']))?|(?<name>[\p{L}_][\p{L}\p{N}_]*)/gu;

export class Editor {
  // `changed(text)` is called with every edit.
  constructor(root, faultList, changed) {
    this.area = root.querySelector("textarea");
    this.ink = root.querySelector(".ink");
    this.gutter = root.querySelector(".gutter");
    this.root = root;
    this.list = faultList;
    this.words = new Set();
    this.faults = [];
    this.area.addEventListener("input", () => { this.faults = this.moved(); this.draw(); changed(this.area.value); });
    this.area.addEventListener("keydown", (event) => this.indent(event));
    this.area.addEventListener("scroll", () => { this.area.scrollTop = 0; this.area.scrollLeft = 0; });
  }

  get text() { return this.area.value; }

  // Put another text in place of the present one; `undoable` leaves the way back open.
  replace(text, undoable = false) {
    if (text === this.text) return this.draw();
    this.faults = [];
    if (undoable) {
      this.area.focus();
      this.area.select();
      if (document.execCommand("insertText", false, text)) return this.draw();
    }
    this.area.value = text;
    this.draw();
  }

  knows(words) {
    this.words = new Set(words);
    this.draw();
  }

  // Faults with line, column and end, counted from 1; line 0 stands for the whole text.
  mark(faults) {
    this.faults = faults;
    this.drawn = this.text;
    this.draw();
    this.list.replaceChildren(...(faults.length ? [this.listed(faults)] : []));
  }

  // While one types, old faults stay with lines before the edit and go away from the others, until new ones come.
  moved() {
    const line = this.text.slice(0, this.area.selectionStart).split("\n").length;
    return this.faults.filter((fault) => fault.line < line);
  }

  listed(faults) {
    const list = document.createElement("ul");
    for (const fault of faults.slice(0, 20)) {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.textContent = fault.line ? `Line ${fault.line}: ${fault.message}` : fault.message;
      button.addEventListener("click", () => this.goTo(fault));
      const item = document.createElement("li");
      item.append(button);
      if (fault.hint) item.append(Object.assign(document.createElement("p"), { className: "hint", textContent: fault.hint }));
      list.append(item);
    }
    return list;
  }

  goTo({ line, column, end }) {
    if (!line) return this.area.focus();
    const start = this.text.split("\n").slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(start + column - 1, start + end - 1);
    const mark = this.ink.querySelectorAll(".fault")[0];
    mark?.scrollIntoView({ block: "center", inline: "nearest" });
  }

  // Tab indents while a selection or the escape key has not said otherwise: Escape, then Tab leaves the text.
  indent(event) {
    if (event.key === "Escape") this.leaving = true;
    else if (event.key !== "Tab") this.leaving = false;
    if (event.key !== "Tab" || event.shiftKey || this.leaving || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    document.execCommand("insertText", false, "    ");
  }

  draw() {
    const { text } = this, lines = text.split("\n");
    this.ink.replaceChildren(...(text.length > LONGEST_COLOURED ? [text + "\n"] : this.coloured(lines)));
    const wrong = new Set(this.faults.map((fault) => fault.line));
    this.gutter.replaceChildren(...lines.map((_, k) => {
      const number = document.createElement(wrong.has(k + 1) ? "b" : "span");
      number.textContent = `${k + 1}\n`;
      return number;
    }));
  }

  // The text as coloured pieces, cut again where faults begin and end.
  coloured(lines) {
    const starts = [];
    lines.reduce((at, line) => { starts.push(at); return at + line.length + 1; }, 0);
    const marks = this.faults.filter(({ line }) => line >= 1 && line <= lines.length).map((fault) => ({
      from: starts[fault.line - 1] + fault.column - 1, to: starts[fault.line - 1] + Math.max(fault.end, fault.column + 1) - 1,
      said: starts[fault.line - 1] + lines[fault.line - 1].length, message: fault.message,
    }));
    const nodes = [], { text } = this;
    let at = 0;
    for (const match of text.matchAll(PIECES)) {
      this.put(nodes, text, at, match.index, "", marks);
      this.putPiece(nodes, text, match, marks);
      at = match.index + match[0].length;
    }
    this.put(nodes, text, at, text.length, "", marks);
    this.say(nodes, text.length, marks);
    nodes.push("\n");
    return nodes;
  }

  putPiece(nodes, text, match, marks) {
    const { index, groups } = match, end = index + match[0].length;
    const unit = groups.unit && !this.words.has(groups.unit.trim()) ? groups.unit.length : 0;
    const kind = groups.comment ? "comment" : groups.string ? "string" : groups.number ? "number" : this.words.has(groups.name) ? "word" : "";
    const split = groups.number ? index + groups.number.length : end;
    this.put(nodes, text, index, split, kind, marks);
    const word = groups.number && !unit && groups.unit ? "word" : "unit";
    if (split < end) this.put(nodes, text, split, end, word, marks);
  }

  // A stretch of text of one kind, with marks of faults and, at the ends of lines, what is wrong.
  put(nodes, text, from, to, kind, marks) {
    const cuts = marks.flatMap((mark) => [mark.from, mark.to, mark.said]).filter((cut) => cut > from && cut < to);
    for (const [start, end] of pairs([from, ...cuts.sort((a, b) => a - b), to])) {
      this.say(nodes, start, marks);
      if (start === end) continue;
      const wrong = marks.some((mark) => start >= mark.from && start < mark.to);
      const name = [kind, wrong ? "fault" : ""].filter(Boolean).join(" ");
      if (!name) nodes.push(text.slice(start, end));
      else nodes.push(Object.assign(document.createElement("span"), { className: name, textContent: text.slice(start, end) }));
    }
  }

  say(nodes, place, marks) {
    for (const mark of marks) {
      if (mark.said !== place || mark.told === nodes) continue;
      mark.told = nodes;
      nodes.push(Object.assign(document.createElement("span"), { className: "said", textContent: mark.message }));
    }
  }
}

const pairs = (places) => places.slice(1).map((end, k) => [places[k], end]);
