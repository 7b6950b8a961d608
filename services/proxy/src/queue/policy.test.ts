import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerInfo } from "@svc/proto";
import { defaultLimits } from "../limit-settings.ts";
import { joinAddress } from "../registry/join-address.ts";
import { decide, type Look, type Waiter } from "./policy.ts";

const hour = 3_600_000;
const waiter: Waiter = {
  player: "p",
  server: "survival",
  origin: "join",
  since: 0,
  answeredAt: 0,
  toldAt: 0,
  wokenAt: 0,
  retryWakeAt: undefined,
};
const info: ServerInfo = {
  name: "survival",
  subdomain: "survival",
  phase: "Starting",
  ready: false,
  playersOnline: 0,
  playersMax: 20,
  idleStopSeconds: 600,
  desiredState: "Running",
};
const status = (change: Partial<ServerInfo>): Look => ({ kind: "status", server: { ...info, ...change } });
const running = {
  phase: "Running",
  ready: true,
  endpointMode: "direct",
  endpointAddress: "127.1.0.2:25565",
} as const;
const silence: Look = { kind: "silence" };

type Row = { look: Look; at?: number; waiter?: Partial<Waiter>; isConnected?: boolean; wanted: string };
const rows: Record<string, Row> = {
  "who waits for a starting server stays": { look: status({}), wanted: "stay" },
  "a line of progress comes after a minute": { look: status({}), at: 60_000, wanted: "progress" },
  "no second line comes within the minute": {
    look: status({}),
    at: 90_000,
    waiter: { toldAt: 60_000 },
    wanted: "stay",
  },
  "who left the proxy leaves the queue, even if the server is ready": {
    look: status(running),
    isConnected: false,
    wanted: "leave disconnected",
  },
  "a ready server takes the player": { look: status(running), wanted: "transfer 127.1.0.2:25565" },
  "Running without RCON is not ready": { look: status({ ...running, ready: false }), wanted: "stay" },
  "the stale address of a failed server takes nobody": {
    look: status({ ...running, phase: "Failed" }),
    wanted: "stay",
  },
  "a fallback endpoint takes nobody": {
    look: status({ ...running, endpointMode: "fallback" }),
    wanted: "stay",
  },
  "Failed in the restart back-off stays": {
    look: status({ phase: "Failed", autoRestarts: 1 }),
    wanted: "stay",
  },
  "a server that gave up is left": {
    look: status({ phase: "Failed", startGaveUp: true }),
    wanted: "leave gave_up",
  },
  "a server stopped by somebody is left": {
    look: status({ phase: "Stopped", desiredState: "Stopped" }),
    at: 10_000,
    wanted: "leave stopped",
  },
  "a view from just before the wake is not believed": {
    look: status({ phase: "Stopped", desiredState: "Stopped" }),
    at: 2_000,
    wanted: "stay",
  },
  "a stopped server that is meant to run is about to start": {
    look: status({ phase: "Stopped" }),
    at: 10_000,
    wanted: "stay",
  },
  "within the cooldown a stopped server is waited for": {
    look: status({ phase: "Stopped", desiredState: "Stopped" }),
    at: 10_000,
    waiter: { retryWakeAt: 20_000 },
    wanted: "stay",
  },
  "after the cooldown it is woken again": {
    look: status({ phase: "Stopping", desiredState: "Stopped" }),
    at: 20_000,
    waiter: { retryWakeAt: 20_000 },
    wanted: "wake",
  },
  "a deleted server is left": { look: { kind: "unknown" }, wanted: "leave gone" },
  "silence is borne for two minutes": {
    look: silence,
    at: 119_999,
    waiter: { toldAt: 100_000 },
    wanted: "stay",
  },
  "after two minutes of silence the player leaves": { look: silence, at: 120_000, wanted: "leave no_answer" },
  "an answer ends the silence": {
    look: silence,
    at: 200_000,
    waiter: { answeredAt: 190_000, toldAt: 190_000 },
    wanted: "stay",
  },
  "after an hour the player leaves": { look: status({}), at: hour, wanted: "leave too_long" },
};

for (const [name, row] of Object.entries(rows)) {
  test(name, () => {
    const { at: now = 1_000, isConnected = true } = row;
    const decision = decide({ ...waiter, ...row.waiter }, row.look, {
      now,
      isConnected,
      limits: defaultLimits,
    });
    const detail =
      decision.do === "leave" ? ` ${decision.why}` : decision.do === "transfer" ? ` ${decision.address}` : "";
    assert.equal(decision.do + detail, row.wanted);
  });
}

test("answers and progress lines are remembered, and a second wake is requested once", () => {
  const received = decide(waiter, status({}), { now: 60_000, isConnected: true, limits: defaultLimits });
  assert(received.do === "progress");
  assert.deepEqual([received.waiter.answeredAt, received.waiter.toldAt], [60_000, 60_000]);
  const look = status({ phase: "Stopped", desiredState: "Stopped" });
  const woken = decide({ ...waiter, retryWakeAt: 1 }, look, {
    now: 2,
    isConnected: true,
    limits: defaultLimits,
  });
  assert(woken.do === "wake");
  assert.equal(woken.waiter.retryWakeAt, undefined);
});

test("only a running, ready server with a direct address can be joined", () => {
  assert.equal(joinAddress({ ...info, ...running }), "127.1.0.2:25565");
  assert.equal(joinAddress({ ...info, ...running, ready: false }), undefined);
  assert.equal(joinAddress(info), undefined);
});
