import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Phase, ServerInfo } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";
import { aServer, emptyRunning, failedSince, secondsBefore } from "../testing/observed.ts";
import { toServerInfo } from "./info.ts";

const about = { auto_restarts: 3, stop_notice: 30_000, keep_awake_longest: 604_800_000 };
const withStatus = (server: Server, status: NonNullable<Server["status"]>): Server => ({ ...server, status });
const condition = (type: string, status: "True" | "False", reason: string) => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: secondsBefore(1),
});

test("a server that no pass has touched is Unknown and shows only what is set", () => {
  const info = toServerInfo(aServer({ desiredState: "Stopped" }), about);
  assert.deepEqual(ServerInfo.parse(info), {
    name: "survival",
    subdomain: "survival",
    phase: "Unknown",
    ready: false,
    playersOnline: 0,
    playersMax: 0,
    idleStopSeconds: 0,
    desiredState: "Stopped",
    image: "svc.local/demo-server:1.21.4",
  });
});

test("the motd of its phase is shown in the server list", () => {
  const server = withStatus(aServer({}), { ...emptyRunning, liveMotd: "§6Come in" });
  assert.equal(toServerInfo(server, about).motd, "§6Come in");
});

test("a running server shows everything that is set", () => {
  const server = aServer(
    {
      autostartPolicy: "allowlist",
      displayName: "Survival",
      javaMemory: "1536M",
      resources: { limits: { memory: "2Gi", cpu: "2" } },
      storage: { size: "8Gi" },
      idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 },
      reaperExempt: true,
    },
    { labels: { "svc.internal/forwarding": "legacy" } },
  );
  const info = toServerInfo(
    withStatus(server, {
      ...emptyRunning,
      nodeName: "local-1",
      players: { online: 3, max: 20 },
      endpoint: { mode: "direct", address: "10.0.0.7:25565" },
      conditions: [condition("PlayersCounted", "True", "Counted")],
    }),
    about,
  );
  assert.deepEqual(info, {
    name: "survival",
    subdomain: "survival",
    phase: "Running",
    ready: true,
    playersOnline: 3,
    playersMax: 20,
    idleStopSeconds: 600,
    nodeName: "local-1",
    autostartPolicy: "allowlist",
    desiredState: "Running",
    endpointMode: "direct",
    endpointAddress: "10.0.0.7:25565",
    displayName: "Survival",
    image: "svc.local/demo-server:1.21.4",
    javaMemory: "1536M",
    memory: "2Gi",
    storageSize: "8Gi",
    cpu: "2",
    legacyForwarding: true,
    reaperExempt: true,
  });
});

describe("idleStopSeconds is 0", () => {
  const idle = { autoStopEnabled: true, emptySecondsBeforeStop: 600 };
  const rows: [fact: string, server: Server][] = [
    ["when idle stop is off", aServer({ idle: { ...idle, autoStopEnabled: false } })],
    ["when RCON is off", aServer({ idle, rcon: { enabled: false } })],
    ["for a system server", aServer({ idle }, { labels: { "svc.internal/system-role": "lobby" } })],
  ];
  for (const [fact, server] of rows)
    test(fact, () => assert.equal(toServerInfo(server, about).idleStopSeconds, 0));
});

describe("a failed server has given up", () => {
  const rows: [fact: string, status: NonNullable<Server["status"]>, expected: true | undefined][] = [
    ["not while a restart is due", failedSince(1, "StartupTimeout", 2), undefined],
    ["when its restarts are spent", failedSince(1, "ReadinessTimeout", 3), true],
    ["when its spec is invalid", failedSince(1, "InvalidSpec"), true],
    ["when it has no anchor", { ...failedSince(1, "StartupTimeout"), startRequestedAt: undefined }, true],
  ];
  for (const [fact, status, expected] of rows) {
    test(fact, () => assert.equal(toServerInfo(withStatus(aServer(), status), about).startGaveUp, expected));
  }
});

test("an unknown player count is shown for a running server only", () => {
  const conditions = [condition("PlayersCounted", "False", "ListUnreadable")];
  assert.equal(
    toServerInfo(withStatus(aServer(), { ...emptyRunning, conditions }), about).playerCountUnknown,
    true,
  );
  const stopped = withStatus(aServer(), { phase: "Stopped", conditions });
  assert.equal(toServerInfo(stopped, about).playerCountUnknown, undefined);
});

test("the row has the estimate in every phase, and when the start under way began", () => {
  const startDurations = { image: "a", seconds: [38, 40, 41, 39, 42] };
  for (const phase of ["Stopped", "Starting", "Running"] as const) {
    const status = { phase, startDurations, startRequestedAt: secondsBefore(9) };
    const info = ServerInfo.parse(toServerInfo(withStatus(aServer(), status), about));
    assert.deepEqual(info.startEstimate, { p50: 40, p95: 42 });
    assert.equal(info.startRequestedAt, phase === "Starting" ? secondsBefore(9) : undefined);
  }
});

test("players see when a stop comes, until it is cancelled", () => {
  const status = { ...emptyRunning, stopNoticeAt: secondsBefore(10) };
  const stopping = withStatus(aServer({ desiredState: "Stopped" }), status);
  assert.equal(toServerInfo(stopping, about).stopsAt, secondsBefore(-20));
  assert.equal(toServerInfo(withStatus(aServer(), status), about).stopsAt, undefined);
});

describe("conditions are shown", () => {
  const rows: [fact: string, phase: Phase, reason: string, isShown: boolean][] = [
    ["while a server starts", "Starting", "PodNotReady", true],
    ["when it has failed", "Failed", "StartupTimeout", true],
    ["while its world is locked", "Stopped", "MaintenanceInProgress", true],
    ["while its node is away", "Running", "NodeUnavailable", true],
    ["not when they say what the phase says", "Running", "RconReached", false],
    ["not of a server at rest", "Stopped", "Stopped", false],
  ];
  for (const [fact, phase, reason, isShown] of rows)
    test(fact, () => {
      const conditions = [{ ...condition("Ready", "False", reason), observedGeneration: 3 }];
      const info = ServerInfo.parse(toServerInfo(withStatus(aServer(), { phase, conditions }), about));
      assert.deepEqual(info.conditions, isShown ? [condition("Ready", "False", reason)] : undefined);
    });
});

test("a stale ready is not shown for a server that is not running", () => {
  assert.equal(toServerInfo(withStatus(aServer(), { phase: "Failed", ready: true }), about).ready, false);
});

test("a server shows until when it is kept awake, unless it never stops by itself", () => {
  const keptAwake = { since: secondsBefore(60), until: secondsBefore(-3_600) };
  const idle = { autoStopEnabled: true, emptySecondsBeforeStop: 600, keptAwake };
  assert.equal(toServerInfo(aServer({ idle }), about).keptAwakeUntil, keptAwake.until);
  const off = { ...idle, autoStopEnabled: false };
  assert.equal(toServerInfo(aServer({ idle: off }), about).keptAwakeUntil, undefined);
  const lowered = { ...about, keep_awake_longest: 600_000 };
  assert.equal(toServerInfo(aServer({ idle }), lowered).keptAwakeUntil, secondsBefore(-540));
});
