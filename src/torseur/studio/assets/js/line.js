// The line to the server: messages both ways, and a new attempt whenever it breaks.

const RETRY_MS = [200, 400, 800, 1500, 3000];
const TAKEN_OVER = 4409;

export class Line {
  // `hear(message)` gets every message; `state(word)` is told "open", "lost" or "taken over".
  constructor(hear, state) {
    Object.assign(this, { hear, state, tries: 0, number: Date.now() });
    this.connect();
  }

  connect() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("open", () => { this.tries = 0; this.state("open"); });
    this.socket.addEventListener("message", ({ data }) => this.hear(typeof data === "string" ? JSON.parse(data) : unpack(data)));
    this.socket.addEventListener("close", ({ code }) => this.closed(code));
  }

  closed(code) {
    if (code === TAKEN_OVER) return this.state("taken over");
    this.state("lost");
    setTimeout(() => this.connect(), RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)]);
  }

  get isOpen() { return this.socket.readyState === WebSocket.OPEN; }

  // Send a request and return its number; numbers grow, even from one visit of the page to the next.
  send(kind, content = {}) {
    this.number += 1;
    if (this.isOpen) this.socket.send(JSON.stringify({ kind, number: this.number, ...content }));
    return this.number;
  }
}

// A binary message: the length of its head, the head as JSON, then arrays, or the bytes of a file.
function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const body = buffer.slice(4 + length);
  if (!head.arrays) return { ...head, body };
  const arrays = {};
  for (const [name, { offset, bytes }] of Object.entries(head.arrays)) arrays[name] = body.slice(offset, offset + bytes);
  return { ...head, arrays };
}
