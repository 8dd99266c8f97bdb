// The line to the server: messages both ways, and a new attempt whenever it breaks.
/** @import { Answer, Arrays } from "../messages.js" */
/** @typedef {"open" | "lost" | "taken over"} Connection */

const RETRY_MS = [200, 400, 800, 1500, 3000];
const TAKEN_OVER = 4409;

export class Line {
  /** @param {(message: Answer) => void} hear gets every message @param {(word: Connection) => void} notice gets every change of the connection */
  constructor(hear, notice) {
    this.hear = hear;
    this.notice = notice;
    this.tries = 0;
    this.number = Date.now();
    this.socket = this.connect();
  }

  connect() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => { this.tries = 0; this.notice("open"); });
    socket.addEventListener("message", ({ data }) => this.hear(typeof data === "string" ? JSON.parse(data) : unpackMessage(data)));
    socket.addEventListener("close", ({ code }) => this.reconnect(code));
    return socket;
  }

  /** Try again, unless another page has taken over. @param {number} code why the connection ended */
  reconnect(code) {
    if (code === TAKEN_OVER) return this.notice("taken over");
    this.notice("lost");
    setTimeout(() => { this.socket = this.connect(); }, RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)]);
  }

  get isOpen() { return this.socket.readyState === WebSocket.OPEN; }

  /** Send a request and return its number; numbers grow, even from one visit of the page to the next. @param {string} kind @param {object} [content] */
  send(kind, content = {}) {
    this.number += 1;
    if (this.isOpen) this.socket.send(JSON.stringify({ kind, number: this.number, ...content }));
    return this.number;
  }
}

// A binary message, offsets counted from the end of the head:
//
//     | length of the head, 4 bytes, little-endian | head as JSON | array | array | ... or the bytes of a file
/** @param {ArrayBuffer} buffer @returns {Answer} */
export function unpackMessage(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const body = buffer.slice(4 + length);
  if (!head.arrays) return { ...head, body };
  /** @type {Record<string, { offset: number, bytes: number }>} */
  const places = head.arrays;
  /** @type {Arrays} */
  const arrays = {};
  for (const [name, { offset, bytes }] of Object.entries(places)) arrays[name] = body.slice(offset, offset + bytes);
  return { ...head, arrays };
}
