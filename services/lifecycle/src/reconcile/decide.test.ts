import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Phase } from "@svc/proto";
import {
  aPod,
  aServer,
  aService,
  aStatefulSet,
  emptyRunning,
  failedSince,
  now,
  observedNew,
  observedRunning,
  observedWaiting,
  password,
  secondsBefore,
  startingSince,
} from "../testing/observed.ts";
import { decide } from "./decide.ts";
import type { Observed } from "./observed.ts";
import type { Plan } from "./plan.ts";

type Row = {
  fact: string;
  observed: Observed;
  phase: Phase;
  /** Reason of Ready. */
  reason: string;
  /** Milliseconds to the next pass, or that there is none. */
  requeue: number | "on-change";
  effects?: string[];
  more?: (plan: Plan) => void;
};

const stoppedServer = aServer({ desiredState: "Stopped" });
const badStorage = aServer({ storage: { size: "eight" } });
const otherImage = aServer({ image: "svc.local/demo-server:1.21.5" });
const retried = aServer({}, { annotations: { "svc.internal/start-retry": secondsBefore(1) } });
const noRcon = aServer({ rcon: { enabled: false } });
const idle = aServer({ idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 } });
const system = aServer(
  { idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 } },
  { labels: { "svc.internal/system-role": "lobby" } },
);
const refusal = { kind: "failed", problem: "RCON: refused" } as const;
const someone = { kind: "reached", count: { online: 2, max: 20 } } as const;
const unreadable = { kind: "reached" } as const;

const starts: Row[] = [
  {
    fact: "a stopped server that is to run gets Services, Secret and StatefulSet, and starts",
    observed: observedNew(),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
    effects: ["create-service", "create-service", "create-secret", "create-stateful-set"],
    more: ({ status }) => {
      assert.equal(status.startRequestedAt, new Date(now).toISOString());
      assert.deepEqual(status.endpoint, { mode: "fallback", address: "login" });
    },
  },
  {
    fact: "a server that was at rest is scaled up",
    observed: observedNew({
      statefulSet: aStatefulSet(aServer(), { replicas: 0 }),
      service: aService(aServer()),
      headless: aService(aServer()),
      secret: { kind: "present", password },
    }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
    effects: ["update-stateful-set"],
  },
  {
    fact: "a start waits while the world is held, and its clock does not run",
    observed: observedNew({ holder: "restore" }),
    phase: "Stopped",
    reason: "MaintenanceInProgress",
    requeue: 5_000,
    effects: [],
    more: ({ status }) => assert.equal(status.startRequestedAt, undefined),
  },
  {
    fact: "a held world does not touch a server that has its pod",
    observed: observedWaiting({ holder: "restore" }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
  },
  {
    fact: "the anchor of a start stays while it goes on",
    observed: observedWaiting({ status: startingSince(10) }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
    effects: [],
    more: ({ status }) => assert.equal(status.startRequestedAt, secondsBefore(10)),
  },
  {
    fact: "a ready pod without an address of its Service is still starting",
    observed: observedRunning({
      status: startingSince(10),
      service: aService(aServer(), ""),
      probe: { kind: "none" },
    }),
    phase: "Starting",
    reason: "ServiceAddressPending",
    requeue: 2_000,
  },
  {
    fact: "a ready pod whose RCON refuses is still starting",
    observed: observedRunning({ status: startingSince(10), probe: refusal }),
    phase: "Starting",
    reason: "RconNotReachable",
    requeue: 2_000,
  },
  {
    fact: "a Secret without a password holds the start up",
    observed: observedWaiting({ secret: { kind: "unusable", problem: "Secret x has no usable password." } }),
    phase: "Starting",
    reason: "RconSecretUnavailable",
    requeue: 10_000,
    effects: [],
  },
  {
    fact: "a ready pod whose RCON lets us in is Running at its address",
    observed: observedRunning({ status: startingSince(10) }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    more: ({ status }) => {
      assert.deepEqual(status.endpoint, { mode: "direct", address: "10.0.0.7:25565" });
      assert.equal(status.ready, true);
      assert.equal(status.startRequestedAt, undefined);
      assert.equal(status.readySignalAt, new Date(now).toISOString());
      assert.deepEqual(conditions(status.conditions), {
        Ready: "True/RconReached",
        RconReached: "True/Probed",
        Provisioned: "True/Provisioned",
        PlayersCounted: "True/Counted",
      });
    },
  },
  {
    fact: "without RCON a ready pod is Running, with players unknown",
    observed: observedRunning({
      server: noRcon,
      status: startingSince(10),
      probe: { kind: "none" },
      secret: { kind: "unread" },
    }),
    phase: "Running",
    reason: "PodReady",
    requeue: 60_000,
    more: ({ status }) => {
      assert.equal(status.players, undefined);
      assert.equal(conditions(status.conditions)["PlayersCounted"], "False/RconDisabled");
    },
  },
  {
    fact: "a node that is not admitted gets no players and its Service no pod",
    observed: observedRunning({ node: { kind: "unavailable", problem: "node a is offline" } }),
    phase: "Running",
    reason: "NodeUnavailable",
    requeue: 10_000,
    effects: ["patch-service"],
    more: ({ status }) => {
      assert.equal(status.ready, false);
      assert.deepEqual(status.endpoint, { mode: "fallback", address: "" });
    },
  },
];

const failures: Row[] = [
  {
    fact: "a pod that is not ready 300 s after the request has failed",
    observed: observedWaiting({ status: startingSince(300) }),
    phase: "Failed",
    reason: "StartupTimeout",
    requeue: 60_000,
    more: ({ status }) => assert.equal(conditions(status.conditions)["Provisioned"], "False/StartupTimeout"),
  },
  {
    fact: "a start is looked at exactly when its time is over",
    observed: observedWaiting({ status: startingSince(299) }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 1_000,
  },
  {
    fact: "the server's own timeout wins over the default",
    observed: observedWaiting({
      server: aServer({ startup: { timeoutSeconds: 20 } }),
      status: startingSince(20),
    }),
    phase: "Failed",
    reason: "StartupTimeout",
    requeue: 60_000,
  },
  {
    fact: "readiness has no extra time: it counts from the same request",
    observed: observedRunning({ status: startingSince(300), probe: refusal }),
    phase: "Failed",
    reason: "ReadinessTimeout",
    requeue: 60_000,
  },
  {
    fact: "failing leaves the endpoint as it was",
    observed: observedWaiting({
      status: { ...startingSince(301), endpoint: { mode: "direct", address: "10.0.0.7:25565" } },
    }),
    phase: "Failed",
    reason: "StartupTimeout",
    requeue: 59_000,
    more: ({ status }) => assert.equal(status.endpoint?.mode, "direct"),
  },
  {
    fact: "a spec that cannot be built has failed, until it changes",
    observed: observedNew({ server: badStorage }),
    phase: "Failed",
    reason: "InvalidSpec",
    requeue: "on-change",
    effects: [],
    more: ({ status }) => assert.equal(conditions(status.conditions)["Provisioned"], "False/InvalidSpec"),
  },
  {
    fact: "a spec that cannot be built shows in a server at rest as well",
    observed: observedNew({ server: aServer({ desiredState: "Stopped", storage: { size: "0" } }) }),
    phase: "Failed",
    reason: "InvalidSpec",
    requeue: "on-change",
  },
  {
    fact: "a mended spec starts with a clock of its own",
    observed: observedNew({ status: failedSince(9_000, "InvalidSpec") }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
    more: ({ status }) => {
      assert.equal(status.startRequestedAt, new Date(now).toISOString());
      assert.equal(conditions(status.conditions)["Provisioned"], undefined);
    },
  },
  {
    fact: "a mended spec of a server that is to stay stopped is Stopped",
    observed: observedNew({ server: stoppedServer, status: failedSince(9_000, "InvalidSpec") }),
    phase: "Stopped",
    reason: "Stopped",
    requeue: "on-change",
  },
];

const recoveries: Row[] = [
  {
    fact: "the first automatic restart waits one minute",
    observed: observedWaiting({ status: failedSince(359, "StartupTimeout") }),
    phase: "Failed",
    reason: "StartupTimeout",
    requeue: 1_000,
    effects: [],
  },
  {
    fact: "the first automatic restart comes after one minute with a new pod and a new clock",
    observed: observedWaiting({ status: failedSince(360, "StartupTimeout") }),
    phase: "Starting",
    reason: "AutoRestart",
    requeue: 2_000,
    effects: ["delete-pod"],
    more: ({ status }) => {
      assert.equal(status.autoRestarts, 1);
      assert.equal(status.startRequestedAt, new Date(now).toISOString());
      assert.equal(status.lastAutoRestartAt, new Date(now).toISOString());
    },
  },
  {
    fact: "the second restart waits two minutes",
    observed: observedWaiting({ status: failedSince(419, "StartupTimeout", 1) }),
    phase: "Failed",
    reason: "StartupTimeout",
    requeue: 1_000,
  },
  {
    fact: "the third restart comes after four minutes",
    observed: observedWaiting({ status: failedSince(540, "ReadinessTimeout", 2) }),
    phase: "Starting",
    reason: "AutoRestart",
    requeue: 2_000,
    effects: ["delete-pod"],
    more: ({ status }) => assert.equal(status.autoRestarts, 3),
  },
  {
    fact: "there is no fourth restart",
    observed: observedWaiting({ status: failedSince(90_000, "StartupTimeout", 3) }),
    phase: "Failed",
    reason: "StartupTimeout",
    requeue: 300_000,
    effects: [],
  },
  {
    fact: "a failed server that answers after all is Running, and its budget is whole again",
    observed: observedRunning({ status: failedSince(320, "ReadinessTimeout", 2) }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    more: ({ status }) => assert.equal(status.autoRestarts, undefined),
  },
  {
    fact: "asked to retry, a failed server gets a new pod and a fresh budget",
    observed: observedWaiting({ server: retried, status: failedSince(90_000, "StartupTimeout", 3) }),
    phase: "Starting",
    reason: "StartRetried",
    requeue: 2_000,
    effects: ["delete-pod", "remove-annotation"],
    more: ({ status, notes }) => {
      assert.equal(status.autoRestarts, 0);
      assert.deepEqual(
        notes.map(({ reason }) => reason),
        ["StartRetried"],
      );
    },
  },
  {
    fact: "a retry that was overtaken by a stop is only forgotten",
    observed: observedNew({
      server: aServer({ desiredState: "Stopped" }, { annotations: { "svc.internal/start-retry": "x" } }),
    }),
    phase: "Stopped",
    reason: "Stopped",
    requeue: "on-change",
    effects: ["remove-annotation"],
  },
  {
    fact: "changed settings of a failed server begin the start anew with a fresh budget",
    observed: observedWaiting({
      server: otherImage,
      statefulSet: aStatefulSet(aServer(), { replicas: 1 }),
      status: failedSince(90_000, "StartupTimeout", 3),
    }),
    phase: "Starting",
    reason: "SpecChanged",
    requeue: 2_000,
    effects: ["update-stateful-set"],
    more: ({ status }) => assert.equal(status.autoRestarts, 0),
  },
  {
    fact: "a pod of the old settings that does not get ready is replaced",
    observed: observedWaiting({
      pod: aPod({ isReady: false, revision: "rev-0" }),
      status: startingSince(100),
    }),
    phase: "Starting",
    reason: "SpecChanged",
    requeue: 2_000,
    effects: ["delete-pod"],
    more: ({ status, notes }) => {
      assert.equal(status.startRequestedAt, new Date(now).toISOString());
      assert.deepEqual(
        notes.map(({ reason }) => reason),
        ["PodReplaced"],
      );
    },
  },
  {
    fact: "a pod of the old settings that is leaving already is left alone",
    observed: observedWaiting({ pod: aPod({ isReady: false, revision: "rev-0", isLeaving: true }) }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
    effects: [],
  },
];

const runs: Row[] = [
  {
    fact: "one probe that fails does not change a running server",
    observed: observedRunning({ probe: refusal }),
    phase: "Running",
    reason: "RconReached",
    requeue: 10_000,
    more: ({ memory }) => assert.equal(memory.misses, 1),
  },
  {
    fact: "the third probe in a row that fails makes it starting, with a new clock",
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
    fact: "players who cannot be counted keep the last count and the idle clock",
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
      assert.equal(conditions(status.conditions)["PlayersCounted"], "False/ListUnreadable");
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
    fact: "somebody on clears the idle clock",
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
    fact: "after a join was reported players are counted every two seconds",
    observed: observedRunning({ memory: { misses: 0, probedAt: 0, joinedUntil: now + 9_000 } }),
    phase: "Running",
    reason: "RconReached",
    requeue: 2_000,
  },
  {
    fact: "a Secret that was made anew rolls the pod",
    observed: observedRunning({
      secret: { kind: "missing", fresh: "f".repeat(32) },
      probe: { kind: "none" },
    }),
    phase: "Running",
    reason: "RconReached",
    requeue: 10_000,
    effects: ["create-secret", "update-stateful-set"],
  },
];

const stops: Row[] = [
  {
    fact: "players who are on are told and get half a minute",
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
    fact: "the notice lasts as long as it was given for, also over a restart of ours",
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
    fact: "after the notice players are told once more and the server stops",
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
    fact: "a start within the notice calls the stop off and says so",
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
    fact: "a failed server that is to stop goes through Stopping",
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
      assert.deepEqual(conditions(status.conditions), {
        Ready: "False/Stopped",
        RconReached: "False/Stopped",
      });
    },
  },
];

function conditions(list: Plan["status"]["conditions"]): Record<string, string> {
  return Object.fromEntries((list ?? []).map(({ type, status, reason }) => [type, `${status}/${reason}`]));
}

function check(row: Row): void {
  const plan = decide(row.observed, now);
  assert.equal(plan.status.phase, row.phase);
  const ready = plan.status.conditions?.find(({ type }) => type === "Ready");
  assert.equal(ready?.reason ?? "", row.reason);
  assert.deepEqual(plan.requeue, row.requeue === "on-change" ? "on-change" : { afterMs: row.requeue });
  if (row.effects)
    assert.deepEqual(
      plan.effects.map(({ kind }) => kind),
      row.effects,
    );
  row.more?.(plan);
}

const tables = {
  "a server that is to run": starts,
  "a start that fails": failures,
  "a failed server": recoveries,
  "a running server": runs,
  "a server that is to stop": stops,
};
for (const [title, rows] of Object.entries(tables)) {
  describe(title, () => {
    for (const row of rows) test(row.fact, () => check(row));
  });
}

test("a pass over its own result changes nothing", () => {
  for (const { observed } of [...starts, ...runs].filter(({ phase }) => phase !== "Failed")) {
    const first = decide(observed, now);
    const again = decide({ ...observed, status: first.status }, now);
    assert.deepEqual(again.status.phase, first.status.phase);
    assert.deepEqual(again.status.startRequestedAt, first.status.startRequestedAt);
  }
});
