import assert from "node:assert/strict";
import { test } from "node:test";
import { watchSource } from "./stall.ts";

for (const [what, isOver] of [
  ["a source that yields nothing stalls", false],
  ["a reader that gave up is not told of a stall", true],
] as const)
  test(what, (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const over = new AbortController();
    let stalls = 0;
    const silent: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
    };
    const onStall = () => {
      stalls += 1;
    };
    void watchSource(silent, 1_000, { onStall, over: over.signal }).next();
    if (isOver) over.abort();
    t.mock.timers.tick(1_000);
    assert.equal(stalls, isOver ? 0 : 1);
  });
