import assert from "node:assert/strict";
import { conditionsOf, describeTable } from "../testing/decision-table.ts";
import {
  aPod,
  aServer,
  aService,
  aStatefulSet,
  failedSince,
  now,
  observedNew,
  observedRunning,
  observedWaiting,
  password,
  secondsBefore,
  startingSince,
} from "../testing/observed.ts";

const stoppedServer = aServer({ desiredState: "Stopped" });
const badStorage = aServer({ storage: { size: "eight" } });
const otherImage = aServer({ image: "svc.local/demo-server:1.21.5" });
const retried = aServer({}, { annotations: { "svc.internal/start-retry": secondsBefore(1) } });
const noRcon = aServer({ rcon: { enabled: false } });
const refusal = { kind: "failed", problem: "RCON: refused" } as const;

describeTable("a server that should run", [
  {
    fact: "a stopped server that should run gets Services, Secret and StatefulSet, and starts",
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
    fact: "a start waits while the world is locked, and its timeout does not run",
    observed: observedNew({ holder: "restore" }),
    phase: "Stopped",
    reason: "MaintenanceInProgress",
    requeue: 5_000,
    effects: [],
    more: ({ status }) => assert.equal(status.startRequestedAt, undefined),
  },
  {
    fact: "a locked world does not affect a server that has its pod",
    observed: observedWaiting({ holder: "restore" }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
  },
  {
    fact: "the start time stays while the start is under way",
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
    fact: "a Secret without a password blocks the start",
    observed: observedWaiting({ secret: { kind: "unusable", problem: "Secret x has no usable password." } }),
    phase: "Starting",
    reason: "RconSecretUnavailable",
    requeue: 10_000,
    effects: [],
  },
  {
    fact: "a ready pod that answers RCON is Running at its address",
    observed: observedRunning({ status: startingSince(10) }),
    phase: "Running",
    reason: "RconReached",
    requeue: 30_000,
    more: ({ status }) => {
      assert.deepEqual(status.endpoint, { mode: "direct", address: "10.0.0.7:25565" });
      assert.equal(status.ready, true);
      assert.equal(status.startRequestedAt, undefined);
      assert.equal(status.readySignalAt, new Date(now).toISOString());
      assert.deepEqual(conditionsOf(status.conditions), {
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
      assert.equal(conditionsOf(status.conditions)["PlayersCounted"], "False/RconDisabled");
    },
  },
  {
    fact: "a server on an unavailable node gets no players and its Service matches no pod",
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
]);

describeTable("a start that fails", [
  {
    fact: "a pod that is not ready 300 s after the request has failed",
    observed: observedWaiting({ status: startingSince(300) }),
    phase: "Failed",
    reason: "StartupTimeout",
    requeue: 60_000,
    more: ({ status }) =>
      assert.equal(conditionsOf(status.conditions)["Provisioned"], "False/StartupTimeout"),
  },
  {
    fact: "a start is checked exactly when its time is up",
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
    fact: "an invalid spec is Failed until it changes",
    observed: observedNew({ server: badStorage }),
    phase: "Failed",
    reason: "InvalidSpec",
    requeue: "on-change",
    effects: [],
    more: ({ status }) => assert.equal(conditionsOf(status.conditions)["Provisioned"], "False/InvalidSpec"),
  },
  {
    fact: "an invalid spec shows on a server at rest as well",
    observed: observedNew({ server: aServer({ desiredState: "Stopped", storage: { size: "0" } }) }),
    phase: "Failed",
    reason: "InvalidSpec",
    requeue: "on-change",
  },
  {
    fact: "a corrected spec starts with its own start time",
    observed: observedNew({ status: failedSince(9_000, "InvalidSpec") }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
    more: ({ status }) => {
      assert.equal(status.startRequestedAt, new Date(now).toISOString());
      assert.equal(conditionsOf(status.conditions)["Provisioned"], undefined);
    },
  },
  {
    fact: "a corrected spec of a server that should stay stopped is Stopped",
    observed: observedNew({ server: stoppedServer, status: failedSince(9_000, "InvalidSpec") }),
    phase: "Stopped",
    reason: "Stopped",
    requeue: "on-change",
  },
]);

describeTable("a failed server", [
  {
    fact: "the first automatic restart waits one minute",
    observed: observedWaiting({ status: failedSince(359, "StartupTimeout") }),
    phase: "Failed",
    reason: "StartupTimeout",
    requeue: 1_000,
    effects: [],
  },
  {
    fact: "the first automatic restart comes after one minute with a new pod and a new start time",
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
    fact: "a failed server that answers after all is Running with a fresh budget",
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
    fact: "a retry overtaken by a stop is only dropped",
    observed: observedNew({
      server: aServer({ desiredState: "Stopped" }, { annotations: { "svc.internal/start-retry": "x" } }),
    }),
    phase: "Stopped",
    reason: "Stopped",
    requeue: "on-change",
    effects: ["remove-annotation"],
  },
  {
    fact: "changed settings of a failed server start it over with a fresh budget",
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
    fact: "a pod with old settings that does not become ready is replaced",
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
    fact: "a pod with old settings that is already terminating is left alone",
    observed: observedWaiting({ pod: aPod({ isReady: false, revision: "rev-0", isLeaving: true }) }),
    phase: "Starting",
    reason: "PodNotReady",
    requeue: 2_000,
    effects: [],
  },
]);
