import assert from "node:assert/strict";
import { test } from "node:test";
import { studio } from "./modules.js";

const { Desk } = await studio("conversation/desk");
const { Draft } = await studio("conversation/draft");
const { unpackMessage } = await studio("conversation/line");
const { rangeOf, short, stepOf, within } = await studio("panels/sliders");

test("values stay within the limits of a robot's joint, where it has some", () => {
  const limits = { knee: [0, 2.5], hip: [null, 1] };
  assert.deepEqual([-1, 1, 3].map((value) => within(limits, "knee", value)), [0, 1, 2.5]);
  assert.deepEqual([-9, 9].map((value) => within(limits, "hip", value)), [-9, 1]);
  assert.equal(within(limits, "arm", 9), 9);
});

function openDesk(text = () => "t") {
  const sent = [];
  let number = 0;
  return { sent, desk: new Desk({ send: (kind) => { sent.push(kind); return ++number; } }, () => ({ text: text() })) };
}

test("one question of a kind is under way at a time, and one more waits, however often it is wanted", () => {
  const { desk, sent } = openDesk();
  desk.want("move");
  desk.want("move");
  desk.want("move");
  desk.want("examine");
  assert.deepEqual(sent, ["move", "examine"]);
  desk.finish(1);
  assert.deepEqual(sent, ["move", "examine", "move"]);
  desk.finish(2);
  desk.finish(3);
  assert.equal(desk.isBusy, false);
});

test("who insists is heard at once, and only the newest answer counts", () => {
  const { desk, sent } = openDesk();
  desk.insist("describe");
  desk.insist("describe");
  assert.deepEqual(sent, ["describe", "describe"]);
  assert.deepEqual([desk.isCurrent("describe", 1), desk.isCurrent("describe", 2)], [false, true]);
  desk.finish(1); // late: it is the second that is waited for
  assert.equal(desk.isBusy, true);
});

test("an answer is about the text it was asked for, for the last thirty questions", () => {
  let text = "";
  const { desk } = openDesk(() => text);
  for (let k = 1; k <= 31; k++) { text = `text ${k}`; desk.insist("move"); }
  assert.deepEqual([desk.isAbout("text 31", 31), desk.isAbout("text 30", 31), desk.isAbout("text 1", 1), desk.isAbout("text 2", 2)], [true, false, false, true]);
  assert.equal(desk.isAbout(undefined, 99), false);
});

function openDraft() {
  const kept = new Map();
  Object.assign(globalThis, {
    location: { pathname: "/token/" },
    localStorage: { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value), removeItem: (key) => kept.delete(key) },
  });
  return { kept, draft: new Draft() };
}
const SERVER = { text: "server", revision: 5, values: {}, initial: {} };

test("the server's state is taken over, unless this browser has a newer one of the same file", () => {
  const { kept, draft } = openDraft();
  assert.equal(draft.greet("a.lsd", SERVER), false);
  assert.equal(draft.state.text, "server");
  draft.change({ text: "typed while the server was away" });
  assert.equal(draft.greet("a.lsd", SERVER), true);
  assert.equal(draft.greet("a.lsd", { ...SERVER, revision: 6 }), false, "the server's own is as new");
  assert.equal(draft.state.text, "server");
  draft.change({ text: "typed again", revision: 6 });
  draft.state.revision = 6;
  draft.store();
  const visit = new Draft();
  assert.equal(visit.greet("b.lsd", SERVER), false);
  assert.equal(new Draft().greet("a.lsd", SERVER), true);
  draft.confirm(5);
  assert.equal(kept.size, 1, "an older revision on disk is not enough");
  draft.confirm(6);
  assert.equal(kept.size, 0);
});

test("a store that is full, closed or broken stops nobody", () => {
  const { kept, draft } = openDraft();
  draft.greet("a.lsd", SERVER);
  globalThis.localStorage.setItem = () => { throw new Error("full"); };
  draft.change({ text: "x" });
  assert.deepEqual([draft.state.text, draft.state.revision], ["x", 6]);
  kept.set("draft /token/ a.lsd", "{ not JSON");
  assert.equal(new Draft().greet("a.lsd", SERVER), false);
});

const outline = (parameters, closed = false, title = "one") => ({ title, closed, parameters: Object.entries(parameters).map(([name, value]) => ({ name, value })), start: [{ name: "q", value: 0 }, { name: "r", value: 0 }] });

test("values follow the text where it changes them, and stay where it does not", () => {
  const { draft } = openDraft();
  draft.greet("", SERVER);
  draft.change({ values: { m: 9, l: 8, gone: 7 }, initial: { q: 1 } });
  draft.followText(outline({ m: 1, l: 2, gone: 3 }), outline({ m: 1, l: 2.5 }));
  assert.deepEqual([draft.state.values, draft.state.initial], [{ m: 9 }, { q: 1 }]);
  const { revision } = draft.state;
  draft.followText(outline({ m: 1 }), outline({ m: 1 }));
  assert.equal(draft.state.revision, revision, "nothing changed");
});

test("the coordinates of a closed mechanism go together", () => {
  const { draft } = openDraft();
  draft.greet("", SERVER);
  draft.change({ initial: { q: 1, gone: 2 } });
  draft.followText(null, outline({}));
  assert.deepEqual(draft.state.initial, { q: 1 }, "those of a tree do not");
  draft.change({ initial: { q: 1, gone: 2 } });
  draft.followText(null, outline({}, true));
  assert.deepEqual(draft.state.initial, {});
});

test("a binary message has arrays behind its head, or the bytes of a file", () => {
  const message = (head, body) => {
    const json = Buffer.from(JSON.stringify(head)), length = Buffer.alloc(4);
    length.writeUInt32LE(json.length);
    return Uint8Array.from(Buffer.concat([length, json, Buffer.from(body)])).buffer;
  };
  const floats = Float32Array.of(1.5, -2), integers = Int16Array.of(7, -8, 9);
  const places = { times: { offset: 0, bytes: 8 }, poses: { offset: 8, bytes: 6 } };
  const { kind, arrays } = unpackMessage(message({ kind: "motion", arrays: places }, [...new Uint8Array(floats.buffer), ...new Uint8Array(integers.buffer)]));
  assert.equal(kind, "motion");
  assert.deepEqual([...new Float32Array(arrays.times)], [1.5, -2]);
  assert.deepEqual([...new Int16Array(arrays.poses)], [7, -8, 9]);
  const file = unpackMessage(message({ kind: "file", name: "é.txt" }, [104, 105]));
  assert.deepEqual([file.name, Buffer.from(file.body).toString()], ["é.txt", "hi"]);
});

test("a slider goes from nothing to twice its value, an angle round once", () => {
  assert.deepEqual([rangeOf(3, "kg"), rangeOf(-2, "m"), rangeOf(0, "m")], [[0, 6], [-4, 0], [-1, 1]]);
  assert.deepEqual(rangeOf(4, "rad"), [-Math.PI, 4.5]);
});

test("keys make steps, with shift a tenth of them", () => {
  assert.deepEqual([["ArrowUp", false], ["PageDown", false], ["ArrowLeft", true], ["x", false]].map(([key, shiftKey]) => stepOf({ key, shiftKey }) + 0), [1, -10, -0.1, 0]);
});

test("numbers are shown with five digits", () => assert.deepEqual([short(1 / 3), short(123456.7), short(2)], ["0.33333", "123460", "2"]));
