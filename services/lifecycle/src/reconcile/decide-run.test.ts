import assert from "node:assert/strict";
import { conditionsOf, describeTable } from "../testing/decision-table.ts";
import {
  aPod,
  aServer,
  aStatefulSet,
  emptyRunning,
  failedSince,
  now,
  observedNew,
  observedRunning,
  observedWaiting,
  secondsBefore,
} from "../testing/observed.ts";

const stoppedServer = aServer({ desiredState: "Stopped" });
const idle = aServer({ idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 } });
const system = aServer(
  { idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 } },
  { labels: { "svc.internal/system-role": "lobby" } },
);
const refusal = { kind: "failed", problem: "RCON: refused" } as const;
const someone = { kind: "reached", count: { online: 2, max: 20 } } as const;
const unreadable = { kind: "reached" } as const;

describeTable("a running server", [
  {
    fact: "one failed probe does not change a running server",
    observed: observedRunning({ probe: refusal }),
    phase: "Running",
    reason: "RconReached",
    requeue: 10_000,
    more: ({ memory }) => assert.equal(memory.misses, 1),
  },
  {
    fact: "the third failed probe in a row makes it Starting, with a new start time",
    observed: observedRunning({ probe: refusal, memory: { misses: 2, probedAt: 0, joinedUntil: 0 } }),
    phase: "Starting",
    reason: "RconNotReachable",
    requeue: 2_000,
    more: ({ status }) => assert.equal(status.startRequestedAt, new Date(now).toISOString()),
  },
  {
    fact: "a running server whose pod is gone is starting again",
    observed: observedWaiting({ status: emptyRunning }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
    more: ({ status }) => {
      assert.equal(status.readySignalAt, undefined);
      assert.equal(status.players, undefined);
    },
  },
  {
    fact: "an unreadable count keeps the last count and the idle clock",
    observed: observedRunning({
      server: idle,
      probe: unreadable,
      status: { ...emptyRunning, players: { online: 4, max: 20 }, emptySince: secondsBefore(60) },
    }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    more: ({ status }) => {
      assert.deepEqual(status.players, { online: 4, max: 20 });
      assert.equal(status.emptySince, secondsBefore(60));
      assert.equal(conditionsOf(status.conditions)["PlayersCounted"], "False/ListUnreadable");
    },
  },
  {
    fact: "an empty server starts its idle clock",
    observed: observedRunning({ server: idle }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    more: ({ status }) => assert.equal(status.emptySince, new Date(now).toISOString()),
  },
  {
    fact: "a server is counted exactly when its idle time ends",
    observed: observedRunning({ server: idle, status: { ...emptyRunning, emptySince: secondsBefore(593) } }),
    phase: "Running",
    reason: "RconReached",
    requeue: 7_000,
    effects: [],
  },
  {
    fact: "a server that was empty for the whole idle time is asked to stop",
    observed: observedRunning({ server: idle, status: { ...emptyRunning, emptySince: secondsBefore(600) } }),
    phase: "Running",
    reason: "RconReached",
    requeue: 10_000,
    effects: ["set-desired-stopped"],
    more: ({ notes }) =>
      assert.deepEqual(
        notes.map(({ reason }) => reason),
        ["IdleStop"],
      ),
  },
  {
    fact: "a player online resets the idle clock",
    observed: observedRunning({
      server: idle,
      probe: someone,
      status: { ...emptyRunning, emptySince: secondsBefore(599) },
    }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    more: ({ status }) => {
      assert.equal(status.emptySince, undefined);
      assert.deepEqual(status.players, { online: 2, max: 20 });
    },
  },
  {
    fact: "for three minutes after the first answer an empty server is not idle",
    observed: observedRunning({
      server: idle,
      status: { ...emptyRunning, readySignalAt: secondsBefore(170) },
    }),
    phase: "Running",
    reason: "RconReached",
    requeue: 10_000,
    more: ({ status }) => assert.equal(status.emptySince, undefined),
  },
  {
    fact: "a system server never idles out",
    observed: observedRunning({
      server: system,
      status: { ...emptyRunning, emptySince: secondsBefore(9_000) },
    }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    effects: [],
  },
  {
    fact: "after a reported join players are counted every two seconds",
    observed: observedRunning({ memory: { misses: 0, probedAt: 0, joinedUntil: now + 9_000 } }),
    phase: "Running",
    reason: "RconReached",
    requeue: 2_000,
  },
  {
    fact: "a replaced Secret restarts the pod",
    observed: observedRunning({
      secret: { kind: "missing", fresh: "f".repeat(32) },
      probe: { kind: "none" },
    }),
    phase: "Running",
    reason: "RconReached",
    requeue: 10_000,
    effects: ["create-secret", "update-stateful-set"],
  },
]);

describeTable("a server that should stop", [
  {
    fact: "players online are warned and get half a minute",
    observed: observedRunning({ server: stoppedServer, probe: someone }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    effects: ["announce"],
    more: (plan) => {
      assert.equal(plan.status.stopNoticeAt, new Date(now).toISOString());
      assert.deepEqual(
        plan.notes.map(({ reason }) => reason),
        ["StopNotice"],
      );
      const [effect] = plan.effects;
      assert.equal(effect?.kind === "announce" && effect.undelivered?.status.phase, "Stopping");
    },
  },
  {
    fact: "players are warned also when the count is unreadable",
    observed: observedRunning({ server: stoppedServer, probe: unreadable }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    effects: ["announce"],
  },
  {
    fact: "the notice lasts for its whole time, also over a restart of lifecycle",
    observed: observedRunning({
      server: stoppedServer,
      probe: { kind: "none" },
      status: { ...emptyRunning, stopNoticeAt: secondsBefore(12) },
    }),
    phase: "Running",
    reason: "",
    requeue: 18_000,
    effects: [],
  },
  {
    fact: "after the notice players are warned once more and the server stops",
    observed: observedRunning({
      server: stoppedServer,
      probe: { kind: "none" },
      status: { ...emptyRunning, stopNoticeAt: secondsBefore(30) },
    }),
    phase: "Stopping",
    reason: "Stopping",
    requeue: 0,
    effects: ["announce"],
    more: ({ status }) => assert.equal(status.stopNoticeAt, undefined),
  },
  {
    fact: "a start during the notice cancels the stop and says so",
    observed: observedRunning({
      probe: someone,
      status: { ...emptyRunning, stopNoticeAt: secondsBefore(12) },
    }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    effects: ["announce"],
    more: ({ status }) => assert.equal(status.stopNoticeAt, undefined),
  },
  {
    fact: "an empty server stops at once",
    observed: observedRunning({ server: stoppedServer }),
    phase: "Stopping",
    reason: "Stopping",
    requeue: 0,
    effects: [],
    more: ({ status }) => assert.deepEqual(status.endpoint, { mode: "fallback", address: "login" }),
  },
  {
    fact: "a server that does not answer stops at once",
    observed: observedRunning({ server: stoppedServer, probe: refusal }),
    phase: "Stopping",
    reason: "Stopping",
    requeue: 0,
    effects: [],
  },
  {
    fact: "a stopping server is saved before it is scaled down",
    observed: observedRunning({
      server: stoppedServer,
      probe: { kind: "none" },
      status: { phase: "Stopping" },
    }),
    phase: "Stopping",
    reason: "Stopping",
    requeue: 5_000,
    effects: ["save-world", "scale-down"],
  },
  {
    fact: "a server without RCON is scaled down without saving",
    observed: observedRunning({
      server: aServer({ desiredState: "Stopped", rcon: { enabled: false } }),
      probe: { kind: "none" },
      status: { phase: "Stopping" },
    }),
    phase: "Stopping",
    reason: "Stopping",
    requeue: 5_000,
    effects: ["scale-down"],
  },
  {
    fact: "a failed server that should stop goes through Stopping",
    observed: observedWaiting({ server: stoppedServer, status: failedSince(900, "StartupTimeout", 3) }),
    phase: "Stopping",
    reason: "Stopping",
    requeue: 0,
  },
  {
    fact: "a server is stopping as long as its pod is there",
    observed: observedNew({
      server: stoppedServer,
      status: { phase: "Stopping" },
      statefulSet: aStatefulSet(stoppedServer, { replicas: 0, left: 1 }),
      pod: aPod({ isReady: true, isLeaving: true }),
    }),
    phase: "Stopping",
    reason: "Stopping",
    requeue: 5_000,
    effects: [],
  },
  {
    fact: "a stopped server keeps nothing of its run",
    observed: observedNew({
      server: stoppedServer,
      status: { ...emptyRunning, phase: "Stopping", autoRestarts: 2, startRequestedAt: secondsBefore(1) },
      statefulSet: aStatefulSet(stoppedServer, { replicas: 0 }),
    }),
    phase: "Stopped",
    reason: "Stopped",
    requeue: "on-change",
    effects: [],
    more: ({ status }) => {
      assert.deepEqual(Object.keys(status).sort(), [
        "conditions",
        "endpoint",
        "observedGeneration",
        "phase",
        "ready",
        "readyReplicas",
      ]);
      assert.deepEqual(conditionsOf(status.conditions), {
        Ready: "False/Stopped",
        RconReached: "False/Stopped",
      });
    },
  },
]);
