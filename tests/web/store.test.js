import assert from "node:assert/strict";
import { test } from "node:test";
import { report } from "./modules.js";

const { NOTHING, Store } = await report("shared/store");

test("who subscribes hears at once, then of changes to its keys alone, until it ends", () => {
  const store = new Store({ time: 0, playing: false, pointed: NOTHING, span: null, trace: 0 }), heard = [];
  const end = store.subscribe(["time"], ({ time }) => heard.push(time));
  store.set({ playing: true });
  store.set({ time: 0 });
  store.set({ time: 2, trace: 1 });
  end();
  store.set({ time: 3 });
  assert.deepEqual(heard, [0, 2]);
  store.subscribe(["time", "span"], ({ span }) => heard.push(span));
  store.set({ span: [1, 2] });
  assert.deepEqual(heard, [0, 2, null, [1, 2]], "one of several keys is enough");
  assert.deepEqual(store.state, { time: 3, playing: true, pointed: NOTHING, span: [1, 2], trace: 1 });
});

test("who ends another's subscription while a change is told does not disturb it", () => {
  const store = new Store({ time: 0, playing: false, pointed: NOTHING, span: null, trace: 0 }), heard = [];
  let end = () => {};
  store.subscribe(["time"], () => end());
  end = store.subscribe(["time"], () => heard.push("second"));
  store.subscribe(["time"], () => heard.push("third"));
  heard.length = 0;
  store.set({ time: 1 });
  assert.deepEqual(heard, ["second", "third"]);
});
