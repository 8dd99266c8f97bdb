// The changes of the text, to go back and forth. The browser's own memory of them ends where a program writes, and grows.

const MOST_STEPS = 300;
const MOST_LETTERS = 1000000; // of all steps together
const PAUSE_MS = 800; // typing that pauses longer is undone apart

export class History {
  constructor() { this.clear(); }

  clear() { Object.assign(this, { past: [], future: [], letters: 0 }); }

  // One text takes the place of another; what is typed in one go is one step.
  note(before, after, now = performance.now()) {
    const step = { ...difference(before, after), now };
    if (!step.removed && !step.added) return;
    this.future = [];
    const last = this.past.at(-1);
    if (last && now - last.now < PAUSE_MS && continues(last, step)) Object.assign(last, { added: last.added + step.added, now });
    else this.past.push(step);
    this.letters += step.added.length + step.removed.length;
    while (this.past.length > MOST_STEPS || (this.letters > MOST_LETTERS && this.past.length > 1)) {
      const oldest = this.past.shift();
      this.letters -= oldest.added.length + oldest.removed.length;
    }
  }

  // The text before the last change and the place of that change, or nothing.
  undo(text) { return this.go(this.past, this.future, text, "added", "removed"); }

  redo(text) { return this.go(this.future, this.past, text, "removed", "added"); }

  go(from, to, text, gone, back) {
    const step = from.pop();
    if (!step) return null;
    to.push({ ...step, now: 0 });
    return { text: text.slice(0, step.at) + step[back] + text.slice(step.at + step[gone].length), caret: step.at + step[back].length };
  }
}

// Where two texts differ, what stood there and what stands there now.
function difference(before, after) {
  const most = Math.min(before.length, after.length);
  let at = 0, tail = 0;
  while (at < most && before[at] === after[at]) at++;
  while (tail < most - at && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { at, removed: before.slice(at, before.length - tail), added: after.slice(at, after.length - tail) };
}

// Letters typed one after the other in a line.
function continues(last, step) {
  return !step.removed && step.added.length === 1 && step.added !== "\n" && last.added && step.at === last.at + last.added.length;
}
