import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerInfo } from "@svc/proto";
import { createStartWatch, listingOf } from "./motd.ts";

const info: ServerInfo = {
  name: "survival",
  subdomain: "s",
  displayName: "Survival",
  phase: "Stopped",
  desiredState: "Stopped",
  ready: false,
  playersOnline: 3,
  playersMax: 20,
  idleStopSeconds: 600,
};
const running = {
  phase: "Running",
  ready: true,
  endpointMode: "direct",
  endpointAddress: "a:1",
  desiredState: "Running",
} as const;

const rows: Record<string, [Partial<ServerInfo>, string, number]> = {
  "a stopped server sleeps": [{}, "Survival is asleep. Join to wake it.", 0],
  "a stopping one is stopping": [{ phase: "Stopping" }, "Survival is stopping.", 0],
  "one that was woken while it stops is starting": [
    { phase: "Stopping", desiredState: "Running" },
    "Survival is starting.",
    0,
  ],
  "a running one shows its players": [running, "Survival", 3],
  "one that runs without RCON is starting": [{ ...running, ready: false }, "Survival is starting.", 0],
  "one that gave up failed": [
    { phase: "Failed", startGaveUp: true, desiredState: "Running" },
    "Survival failed to start.",
    0,
  ],
  "one in restart back-off is starting": [
    { phase: "Failed", desiredState: "Running" },
    "Survival is starting.",
    0,
  ],
};
for (const [name, [change, text, online]] of Object.entries(rows)) {
  test(name, () => {
    const times = { startedAt: undefined, lastStartMs: undefined };
    assert.deepEqual(listingOf({ ...info, ...change }, times, 0), { text, online, max: 20 });
  });
}

test("an unknown address shows that there is no server", () => {
  const times = { startedAt: undefined, lastStartMs: undefined };
  assert.deepEqual(listingOf(undefined, times, 0), {
    text: "There is no server at this address.",
    online: 0,
    max: 0,
  });
});

test("a start is estimated from the one before, until the estimate has passed", () => {
  const watch = createStartWatch();
  const starting: ServerInfo = { ...info, phase: "Starting", desiredState: "Running" };
  const textAt = (now: number) => listingOf(starting, watch.timesOf("survival"), now).text;
  watch.note(starting, 0);
  assert.equal(textAt(1_000), "Survival is starting.");
  watch.note({ ...info, ...running }, 30_000);
  watch.note(starting, 100_000);
  watch.note(starting, 110_000);
  assert.equal(textAt(110_000), "Survival is starting, about 20 s more.");
  assert.equal(textAt(130_000), "Survival is starting.");
  watch.note({ ...info, phase: "Failed" }, 140_000);
  assert.deepEqual(watch.timesOf("survival"), { startedAt: undefined, lastStartMs: 30_000 });
});
