// What is asked of the workers: at most one motion and one examination at a time, and always about the newest values.
/** @import { Question, QuestionKind } from "../messages.js" */

const REMEMBERED = 30; // questions

export class Desk {
  /** @param {{ send: (kind: string, content: Question) => number }} line @param {(kind: QuestionKind) => Question} ask gives the content of a question */
  constructor(line, ask) {
    this.line = line;
    this.ask = ask;
    /** The numbers of questions under way. @type {Map<QuestionKind, number>} */
    this.busy = new Map();
    /** Kinds to be asked again once they are answered. @type {Set<QuestionKind>} */
    this.waiting = new Set();
    /** @type {Partial<Record<QuestionKind, number>>} */
    this.latest = {};
    /** The texts that questions were about. @type {Map<number, string>} */
    this.texts = new Map();
  }

  /** Ask now, or as soon as the question of this kind that is under way has been answered. @param {QuestionKind} kind */
  want(kind) {
    if (this.busy.has(kind)) this.waiting.add(kind);
    else this.send(kind);
  }

  /** Ask now, whatever is under way. @param {QuestionKind} kind */
  insist(kind) {
    this.waiting.delete(kind);
    this.send(kind);
  }

  /** @param {QuestionKind} kind */
  send(kind) {
    const question = this.ask(kind), number = this.line.send(kind, question);
    this.texts.set(number, question.text);
    for (const oldest of this.texts.keys()) {
      if (this.texts.size <= REMEMBERED) break;
      this.texts.delete(oldest);
    }
    this.latest[kind] = number;
    this.busy.set(kind, number);
  }

  /** Whether an answer is to the newest question of its kind. @param {QuestionKind} kind @param {number} number */
  isCurrent(kind, number) { return this.latest[kind] === number; }

  /** Whether an answer is about this text. @param {string | undefined} text @param {number} number */
  isAbout(text, number) { return text !== undefined && this.texts.get(number) === text; }

  get isBusy() { return this.busy.size > 0; }

  /** A question has been answered; the same kind is asked again where that was wanted meanwhile. @param {number} number */
  finish(number) {
    for (const [kind, current] of this.busy) {
      if (current !== number) continue;
      this.busy.delete(kind);
      if (this.waiting.delete(kind)) this.send(kind);
      return;
    }
  }

  // Nothing that was asked will be answered.
  forget() {
    this.busy.clear();
    this.waiting.clear();
  }
}
