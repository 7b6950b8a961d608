import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlaces } from "./semaphore.ts";

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("no more works at a time than there are places", async () => {
  const places = createPlaces(2);
  const end = gate();
  let [working, highest] = [0, 0];
  const all = Array.from({ length: 10 }, () =>
    places.run(async () => {
      highest = Math.max(highest, ++working);
      await end.opened;
      working -= 1;
    }),
  );
  await turn();
  assert.equal(working, 2);
  end.open();
  await Promise.all(all);
  assert.equal(highest, 2);
});

test("who waits outside leaves the place to others, and works again only in a place", async () => {
  const places = createPlaces(1);
  const [slow, other] = [gate(), gate()];
  const steps: string[] = [];
  const first = places.run(async (outside) => {
    await outside(() => slow.opened);
    steps.push("first is back");
  });
  const second = places.run(async () => {
    steps.push("second works");
    await other.opened;
    steps.push("second is done");
  });
  await turn();
  assert.deepEqual(steps, ["second works"]);
  slow.open();
  await turn();
  assert.deepEqual(steps, ["second works"]);
  other.open();
  await Promise.all([first, second]);
  assert.deepEqual(steps, ["second works", "second is done", "first is back"]);
});

test("a place is given back by work that fails, outside or inside", async () => {
  const places = createPlaces(1);
  const fail = () => Promise.reject(new Error("failed"));
  await assert.rejects(places.run((outside) => outside(fail)));
  await assert.rejects(places.run(fail));
  assert.equal(await places.run(async () => "free"), "free");
});
