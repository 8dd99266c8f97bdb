// The text: a textarea for writing, and below it the same text in colours, with faults where they stand.
import { History } from "./history.js";

const LONGEST_COLOURED = 120000;
const PIECES = /(?<comment>\(\*[\s\S]*?(?:\*\)|$))|(?<string>"(?:[^"\\\n]|\\.)*"?)|(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?<unit>[ \t]*[A-Za-zµ°]+(?:\^-?\d+)?(?:[*/][A-Za-zµ°]+(?:\^-?\d+)?)*(?![\w(.']))?|(?<name>[\p{L}_][\p{L}\p{N}_]*)/gu;

export class Editor {
  // `changed(text)` is called with every edit.
  constructor(root, faultList, changed) {
    this.area = root.querySelector("textarea");
    this.ink = root.querySelector(".ink");
    this.list = faultList;
    this.words = new Set();
    this.faults = [];
    this.history = new History();
    this.changed = changed;
    this.area.addEventListener("input", () => this.typed());
    this.area.addEventListener("keydown", (event) => { if (!this.goBack(event)) this.indent(event); });
    this.area.addEventListener("beforeinput", (event) => this.menu(event));
    this.area.addEventListener("blur", () => setTimeout(() => this.shed()));
    this.area.addEventListener("scroll", () => { this.area.scrollTop = 0; this.area.scrollLeft = 0; });
  }

  get text() { return this.area.value; }

  // Put another text in place of the present one; `undoable` leaves the way back open.
  replace(text, undoable = false) {
    if (text === this.text) return this.draw();
    const before = this.text;
    this.put(text);
    if (undoable) this.history.note(before, this.text, 0);
    else this.history.clear();
  }

  put(text) {
    this.faults = [];
    this.area.value = text;
    this.last = this.text;
    this.draw();
  }

  typed() {
    this.laden = true;
    this.history.note(this.last ?? "", this.text);
    this.last = this.text;
    this.faults = this.moved();
    this.draw();
    this.changed(this.text);
  }

  // The browser lists up to a thousand edits for an undo of its own, which is never asked for, and lets go of the list
  // with the element only; each was measured to keep some fifty kilobytes from being used again.
  shed() {
    if (!this.laden || document.activeElement === this.area) return;
    const { parentNode, nextSibling } = this.area;
    this.area.remove();
    parentNode.insertBefore(this.area, nextSibling);
    this.laden = false;
  }

  // Undo and redo by keys; says whether it was one of them.
  goBack(event) {
    const key = (event.key ?? "").toLowerCase(), again = key === "y" || (key === "z" && event.shiftKey);
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !["z", "y"].includes(key)) return false;
    event.preventDefault();
    this.go(again ? "redo" : "undo");
    return true;
  }

  // Undo and redo by the browser's own menu.
  menu(event) {
    const way = { historyUndo: "undo", historyRedo: "redo" }[event.inputType];
    if (!way) return;
    event.preventDefault();
    this.go(way);
  }

  go(way) {
    const found = this.history[way](this.text);
    if (!found) return;
    this.put(found.text);
    this.area.setSelectionRange(found.caret, found.caret);
    this.ink.children[this.line - 1].scrollIntoView({ block: "nearest" });
    this.changed(found.text);
  }

  knows(words) {
    this.words = new Set(words);
    this.draw();
  }

  // Faults with line, column and end, counted from 1; line 0 stands for the whole text.
  mark(faults) {
    this.faults = faults;
    this.draw();
    const kept = Object.assign(document.createElement("p"), { className: "remark", textContent: "The rest of the page shows the last text without faults." });
    this.list.replaceChildren(...(faults.length ? [this.listed(faults), kept] : []));
  }

  // What is doubtful in a text without faults.
  remark(texts) {
    this.list.replaceChildren(...texts.slice(0, 20).map((text) => Object.assign(document.createElement("p"), { className: "remark", textContent: text })));
  }

  // While one types, old faults stay with lines before the edit and go away from the others, until new ones come.
  moved() {
    return this.faults.filter((fault) => fault.line < this.line);
  }

  // The line that the caret is in, counted from 1.
  get line() { return this.text.slice(0, this.area.selectionStart).split("\n").length; }

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
    this.ink.children[line - 1].scrollIntoView({ block: "nearest" });
  }

  // Tab indents while a selection or the escape key has not said otherwise: Escape, then Tab leaves the text.
  indent(event) {
    if (event.key === "Escape") this.leaving = true;
    else if (event.key !== "Tab") this.leaving = false;
    if (event.key !== "Tab" || event.shiftKey || this.leaving || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.area.setRangeText("    ", this.area.selectionStart, this.area.selectionEnd, "end");
    this.typed();
  }

  // Only rows that differ from those on the page are made anew.
  draw() {
    const rows = this.rowsOf(this.text), keys = rows.map((row) => JSON.stringify(row)), before = this.keys ?? [];
    let head = 0, tail = 0;
    const most = Math.min(keys.length, before.length);
    while (head < most && keys[head] === before[head]) head++;
    while (tail < most - head && keys[keys.length - 1 - tail] === before[before.length - 1 - tail]) tail++;
    for (let k = before.length - tail - 1; k >= head; k--) this.ink.children[k].remove();
    const fresh = rows.slice(head, rows.length - tail).map(rowElement), next = this.ink.children[head];
    if (next) next.before(...fresh);
    else this.ink.append(...fresh);
    this.keys = keys;
  }

  // The text as rows of coloured pieces, {pieces: [text, kind, wrong], said}.
  rowsOf(text) {
    const rows = text.split("\n").map(() => ({ pieces: [], said: [] })), marks = new Map();
    for (const fault of this.faults) {
      if (fault.line < 1 || fault.line > rows.length) continue;
      marks.set(fault.line - 1, [...(marks.get(fault.line - 1) ?? []), [fault.column - 1, Math.max(fault.end, fault.column + 1) - 1]]);
      rows[fault.line - 1].said.push(fault.message);
    }
    let row = 0, column = 0;
    const put = (piece, kind) => piece.split("\n").forEach((part, k) => {
      if (k) { row++; column = 0; }
      if (part) rows[row].pieces.push(...cut(part, column, kind, marks.get(row) ?? []));
      column += part.length;
    });
    for (const [piece, kind] of this.piecesOf(text)) put(piece, kind);
    return rows;
  }

  // The text in pieces of one kind each.
  *piecesOf(text) {
    let at = 0;
    if (text.length > LONGEST_COLOURED) return yield [text, ""];
    for (const match of text.matchAll(PIECES)) {
      const { groups } = match, unit = groups.unit ?? "";
      if (match.index > at) yield [text.slice(at, match.index), ""];
      at = match.index + match[0].length;
      if (groups.number) {
        yield [groups.number, "number"];
        if (unit) yield [unit, this.words.has(unit.trim()) ? "word" : "unit"];
      } else yield [match[0], groups.comment ? "comment" : groups.string ? "string" : this.words.has(groups.name) ? "word" : ""];
    }
    if (at < text.length) yield [text.slice(at), ""];
  }
}

// A piece of a row, cut where faults begin and end.
function cut(part, column, kind, marks) {
  const end = column + part.length, inside = marks.flat().filter((place) => place > column && place < end);
  const places = [column, ...new Set(inside.sort((a, b) => a - b)), end];
  return places.slice(1).map((to, k) => [
    part.slice(places[k] - column, to - column), kind, marks.some(([first, last]) => places[k] >= first && places[k] < last),
  ]);
}

function rowElement({ pieces, said }) {
  const row = Object.assign(document.createElement("div"), { className: said.length ? "row wrong" : "row" });
  for (const [text, kind, wrong] of pieces) {
    const name = [kind, wrong ? "fault" : ""].filter(Boolean).join(" ");
    row.append(name ? Object.assign(document.createElement("span"), { className: name, textContent: text }) : text);
  }
  if (said.length) row.append(Object.assign(document.createElement("span"), { className: "said", textContent: said[0] }));
  return row;
}
