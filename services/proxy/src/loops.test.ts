import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createLogger } from "@svc/telemetry";
import { startLoops } from "./loops.ts";

test("a loop that is not needed has no timer until it is resumed, and none once all are stopped", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    let isNeeded = false;
    let turns = 0;
    let asked = 0;
    const loop = {
      name: "queue",
      everyMs: 100,
      isNeeded: () => {
        asked++;
        return isNeeded;
      },
      run: async () => void turns++,
    };
    const loops = startLoops([loop], createLogger("proxy", "silent"));
    const pass = async (ms: number) => {
      for (let at = 0; at < ms; at += 100) {
        mock.timers.tick(100);
        // Lets the run end, so that the next one is not skipped.
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await pass(500);
    assert.deepEqual({ turns, asked }, { turns: 0, asked: 1 });
    isNeeded = true;
    loops.resume();
    loops.resume();
    await pass(300);
    assert.equal(turns, 3);
    isNeeded = false;
    await pass(100);
    asked = 0;
    await pass(500);
    assert.deepEqual({ turns, asked }, { turns: 3, asked: 0 });
    await loops.stop();
    isNeeded = true;
    loops.resume();
    await pass(500);
    assert.equal(turns, 3);
  } finally {
    mock.timers.reset();
  }
});
