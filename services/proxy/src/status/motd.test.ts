import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ServerInfo } from "@svc/proto";
import { listingOf } from "./motd.ts";

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
const iso = (ms: number) => new Date(ms).toISOString();
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
    assert.deepEqual(listingOf({ ...info, ...change }, 0), { text, online, max: 20 });
  });
}

test("an unknown address shows that there is no server", () => {
  assert.deepEqual(listingOf(undefined, 0), {
    text: "There is no server at this address.",
    online: 0,
    max: 0,
  });
});

describe("a start is estimated from those before", () => {
  const startEstimate = { p50: 40, p95: 70 };
  const starting = {
    phase: "Starting",
    desiredState: "Running",
    startRequestedAt: iso(0),
    startEstimate,
  } as const;
  const rows: [fact: string, change: Partial<ServerInfo>, atSeconds: number, text: string][] = [
    ["while it sleeps", { startEstimate }, 0, "Survival is asleep. Join to wake it, which takes about 40 s."],
    [
      "when it was just woken",
      { ...starting, startRequestedAt: undefined },
      0,
      "Survival is starting, about 40 s more.",
    ],
    ["while it starts", starting, 20, "Survival is starting, about 20 s more."],
    ["never below nothing", starting, 45, "Survival is starting and ready any moment now."],
    ["until it is late", starting, 71, "Survival is starting, which takes longer than usual."],
  ];
  for (const [fact, change, atSeconds, text] of rows)
    test(fact, () => assert.equal(listingOf({ ...info, ...change }, atSeconds * 1_000).text, text));
});

test("during maintenance a sleeping server does not ask anybody to wake it, and a running one is as it is", () => {
  assert.equal(listingOf(info, 0, true).text, "Survival is asleep and cannot be woken during maintenance.");
  assert.equal(listingOf({ ...info, ...running }, 0, true).text, "Survival");
});
