// What is asked of the workers: at most one motion and one examination at a time, and always about the newest values.

const REMEMBERED = 30; // questions

export class Desk {
  constructor(line, ask) {
    Object.assign(this, { line, ask, busy: new Map(), waiting: new Set(), latest: {}, texts: new Map() });
  }

  // Ask now, or as soon as the question of this kind that is under way has been answered.
  want(kind) {
    if (this.busy.has(kind)) this.waiting.add(kind);
    else this.send(kind);
  }

  // Ask now, whatever is under way.
  insist(kind) {
    this.waiting.delete(kind);
    this.send(kind);
  }

  send(kind) {
    const question = this.ask(kind), number = this.line.send(kind, question);
    this.texts.set(number, question.text);
    if (this.texts.size > REMEMBERED) this.texts.delete(this.texts.keys().next().value);
    this.latest[kind] = number;
    this.busy.set(kind, number);
  }

  // Whether an answer is to the newest question of its kind.
  isCurrent(kind, number) { return this.latest[kind] === number; }

  // Whether an answer is about this text.
  isAbout(text, number) { return this.texts.get(number) === text; }

  get isBusy() { return this.busy.size > 0; }

  // A question has been answered.
  done(number) {
    for (const [kind, asked] of this.busy) {
      if (asked !== number) continue;
      this.busy.delete(kind);
      if (this.waiting.delete(kind)) this.send(kind);
      return kind;
    }
    return null;
  }

  // Nothing that was asked will be answered.
  forget() {
    this.busy.clear();
    this.waiting.clear();
  }
}
