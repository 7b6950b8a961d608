// The table of phases of docs/reference/server-states.md#phases.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotation } from "../cluster/resource.ts";
import {
  at,
  conditionsOf,
  effectsOf,
  expect,
  idleServer,
  notesOf,
  refused,
  someone,
  stopped,
} from "../testing/decisions.ts";
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
  startingSince,
} from "../testing/observed.ts";
import { decide } from "./decide.ts";
import { isPodReady, type Observed } from "./observed.ts";

describe("what the status keeps of a start", () => {
  const known = { image: "svc.local/demo-server:1.21.4", seconds: [30] };
  const rows: [
    fact: string,
    changes: Parameters<typeof observedRunning>[0],
    seconds: number[] | undefined,
  ][] = [
    [
      "a start that succeeds is the newest",
      { status: { ...startingSince(10), startDurations: known } },
      [30, 10],
    ],
    ["the first start is the only one", { status: startingSince(10) }, [10]],
    ["a server that runs adds nothing", { status: { ...emptyRunning, startDurations: known } }, [30]],
    [
      "one that was lost for a moment and answers again has not started",
      { status: { ...startingSince(2), startDurations: known } },
      [30],
    ],
    [
      "one that came up after its time was up does not count",
      { status: { ...failedSince(301, "StartupTimeout"), startDurations: known } },
      [30],
    ],
    [
      "one whose clock went back does not count",
      { status: { ...startingSince(-5), startDurations: known }, pod: aPod({ isReady: true }) },
      [30],
    ],
    ["a pod that is not known does not count", { status: startingSince(10), pod: undefined }, undefined],
  ];
  for (const [fact, changes, seconds] of rows)
    test(fact, () => {
      const { status } = decide(observedRunning(changes), now);
      assert.equal(status.phase, "Running");
      assert.deepEqual(status.startDurations?.seconds, seconds);
    });

  test("a failed start, a stop and rest keep it and add nothing", () => {
    const observations: [string, Observed][] = [
      ["Starting", observedWaiting({ status: { ...startingSince(9), startDurations: known } })],
      ["Failed", observedWaiting({ status: { ...startingSince(300), startDurations: known } })],
      ["Stopping", observedRunning({ server: stopped, status: { ...emptyRunning, startDurations: known } })],
      ["Stopped", observedNew({ server: stopped, status: { phase: "Stopping", startDurations: known } })],
    ];
    for (const [phase, observed] of observations) {
      const { status } = decide(observed, now);
      assert.deepEqual([status.phase, status.startDurations], [phase, known]);
    }
  });
});

describe("the table of phases", () => {
  test("Stopped and asked to run is Starting, with its start time set and the fallback as its endpoint", () => {
    const plan = expect(observedNew(), { phase: "Starting", ready: "False/PodNotReady", requeue: 2_000 });
    assert.equal(plan.status.startRequestedAt, at);
    assert.deepEqual(plan.status.endpoint, { mode: "fallback", address: "login" });
  });

  test("Starting with a ready pod that answers RCON is Running at its direct address", () => {
    const plan = expect(observedRunning({ status: startingSince(20) }), {
      phase: "Running",
      ready: "True/RconReached",
      requeue: 30_000,
    });
    assert.deepEqual(plan.status.endpoint, { mode: "direct", address: "10.0.0.7:25565" });
    assert.equal(conditionsOf(plan)["RconReached"], "True/Probed");
    assert.equal(conditionsOf(plan)["Provisioned"], "True/Provisioned");
    assert.equal(plan.status.startRequestedAt, undefined);
    assert.equal(plan.status.readySignalAt, at);
  });

  test("Starting without TCP readiness within startup.timeoutSeconds is Failed with StartupTimeout", () => {
    const server = aServer({ startup: { timeoutSeconds: 40 } });
    for (const [since, phase] of [
      [39, "Starting"],
      [40, "Failed"],
    ] as const) {
      const plan = decide(observedWaiting({ server, status: startingSince(since) }), now);
      assert.equal(plan.status.phase, phase);
    }
    const plan = decide(observedWaiting({ status: startingSince(300) }), now);
    assert.equal(conditionsOf(plan)["Ready"], "False/StartupTimeout");
    assert.equal(conditionsOf(plan)["Provisioned"], "False/StartupTimeout");
  });

  test("Starting without RCON within startup.readinessTimeoutSeconds is Failed with ReadinessTimeout, from the same start time", () => {
    const server = aServer({ startup: { readinessTimeoutSeconds: 40 } });
    for (const [since, ready] of [
      [39, "False/RconNotReachable"],
      [40, "False/ReadinessTimeout"],
    ] as const) {
      const plan = decide(observedRunning({ server, probe: refused, status: startingSince(since) }), now);
      assert.equal(conditionsOf(plan)["Ready"], ready);
    }
  });

  for (const [phase, status] of [
    ["Starting", startingSince(5)],
    ["Running", emptyRunning],
    ["Failed", failedSince(5, "StartupTimeout")],
    ["Stopped", { phase: "Stopped" as const }],
  ] as const) {
    test(`${phase} with an invalid spec is Failed with InvalidSpec`, () => {
      const server = aServer({ storage: { size: "eight" } });
      const plan = expect(observedRunning({ server, status }), {
        phase: "Failed",
        ready: "False/InvalidSpec",
        requeue: "on-change",
      });
      assert.equal(conditionsOf(plan)["Provisioned"], "False/InvalidSpec");
      assert.deepEqual(plan.effects, []);
    });
  }

  test("Failed with InvalidSpec leaves that state with the next pass after a valid fix", () => {
    const status = failedSince(5_000, "InvalidSpec");
    const plan = expect(observedNew({ status }), {
      phase: "Starting",
      ready: "False/PodNotReady",
      requeue: 2_000,
    });
    assert.equal(plan.status.startRequestedAt, at);
  });

  test("Failed by a timeout restarts automatically three times, after 1, 2 and 4 minutes, and then no more", () => {
    const waits = [60, 120, 240];
    for (const [spent, wait] of waits.entries()) {
      const early = failedSince(300 + wait - 1, "StartupTimeout", spent);
      assert.equal(decide(observedWaiting({ status: early }), now).status.phase, "Failed");
      const due = failedSince(300 + wait, "StartupTimeout", spent);
      const plan = decide(observedWaiting({ status: due }), now);
      assert.equal(conditionsOf(plan)["Ready"], "False/AutoRestart");
      assert.equal(plan.status.autoRestarts, spent + 1);
      assert.equal(plan.status.lastAutoRestartAt, at);
      assert.equal(plan.status.startRequestedAt, at);
      assert.ok(effectsOf(plan).includes("delete-pod"));
    }
    expect(observedWaiting({ status: failedSince(90_000, "StartupTimeout", 3) }), {
      phase: "Failed",
      ready: "False/StartupTimeout",
      requeue: 300_000,
    });
  });

  test("Failed and asked to retry is Starting with StartRetried, whatever was spent", () => {
    const server = aServer({}, { annotations: { [annotation.startRetry]: at } });
    const plan = expect(observedWaiting({ server, status: failedSince(90_000, "ReadinessTimeout", 3) }), {
      phase: "Starting",
      ready: "False/StartRetried",
      requeue: 2_000,
    });
    assert.equal(plan.status.autoRestarts, 0);
    assert.deepEqual(effectsOf(plan), ["delete-pod", "remove-annotation"]);
  });

  for (const status of [startingSince(200), failedSince(400, "StartupTimeout", 2)]) {
    test(`${status.phase} with a pod of an old template is Starting with SpecChanged and PodReplaced`, () => {
      const pod = aPod({ isReady: false, revision: "rev-0" });
      const plan = expect(observedWaiting({ pod, status }), {
        phase: "Starting",
        ready: "False/SpecChanged",
        requeue: 2_000,
      });
      assert.equal(conditionsOf(plan)["RconReached"], "False/SpecChanged");
      assert.deepEqual(effectsOf(plan), ["delete-pod"]);
      assert.deepEqual(notesOf(plan), ["Normal PodReplaced"]);
      assert.equal(plan.status.startRequestedAt, at);
      assert.equal(plan.status.autoRestarts, 0);
    });
  }

  test("an old template that the cluster has not observed yet replaces nothing", () => {
    const set = aStatefulSet(aServer(), { replicas: 1 });
    const pod = aPod({ isReady: false, revision: "rev-0" });
    const statefulSet = { ...set, metadata: { ...set.metadata, generation: 2 } };
    assert.deepEqual(effectsOf(decide(observedWaiting({ pod, statefulSet }), now)), []);
  });

  test("Running and asked to stop with players online warns them, waits 30 s, warns them again and stops", () => {
    const first = expect(observedRunning({ server: stopped, probe: someone }), {
      phase: "Running",
      ready: "True/RconReached",
      requeue: 30_000,
    });
    assert.equal(first.status.stopNoticeAt, at);
    assert.deepEqual(notesOf(first), ["Normal StopNotice"]);
    const received = { ...first.status, stopNoticeAt: secondsBefore(30) };
    const second = decide(observedRunning({ server: stopped, status: received }), now);
    assert.equal(second.status.phase, "Stopping");
    assert.deepEqual(second.effects, [{ kind: "announce", message: "stop-now" }]);
    const third = decide(observedRunning({ server: stopped, status: second.status }), now);
    assert.deepEqual(effectsOf(third), ["save-world", "scale-down"]);
  });

  test("Running and asked to stop with an unknown player count warns players", () => {
    const plan = decide(observedRunning({ server: stopped, probe: { kind: "reached" } }), now);
    assert.equal(plan.status.stopNoticeAt, at);
  });

  test("a start during the notice cancels the stop and tells the players", () => {
    const status = { ...emptyRunning, stopNoticeAt: secondsBefore(10) };
    const plan = decide(observedRunning({ status, probe: someone }), now);
    assert.equal(plan.status.phase, "Running");
    assert.equal(plan.status.stopNoticeAt, undefined);
    assert.deepEqual(plan.effects[0], { kind: "announce", message: "stop-cancelled" });
  });

  const atOnce: [fact: string, observed: Observed][] = [
    ["nobody on", observedRunning({ server: stopped })],
    ["RCON off", observedRunning({ server: aServer({ desiredState: "Stopped", rcon: { enabled: false } }) })],
    ["a probe that fails", observedRunning({ server: stopped, probe: refused })],
    [
      "a Secret that cannot be read",
      observedRunning({
        server: stopped,
        secret: { kind: "unusable", problem: "" },
        probe: { kind: "none" },
      }),
    ],
    [
      "no ready pod",
      observedRunning({ server: stopped, pod: aPod({ isReady: false }), probe: { kind: "none" } }),
    ],
  ];
  for (const [fact, observed] of atOnce) {
    test(`Running and asked to stop with ${fact} is Stopping at once`, () => {
      const plan = decide(observed, now);
      assert.deepEqual([plan.status.phase, plan.status.stopNoticeAt], ["Stopping", undefined]);
      assert.deepEqual(plan.status.endpoint, { mode: "fallback", address: "login" });
    });
  }

  test("Running and empty for the whole grace time asks for its stop", () => {
    const status = { ...emptyRunning, emptySince: secondsBefore(600) };
    const plan = decide(observedRunning({ server: idleServer, status }), now);
    assert.deepEqual(effectsOf(plan), ["set-desired-stopped"]);
    assert.deepEqual(notesOf(plan), ["Normal IdleStop"]);
  });

  for (const role of ["login", "lobby"]) {
    test(`the system server ${role} never stops by itself`, () => {
      const server = aServer(idleServer.spec, { labels: { "svc.internal/system-role": role } });
      const status = { ...emptyRunning, emptySince: secondsBefore(6_000) };
      assert.deepEqual(decide(observedRunning({ server, status }), now).effects.filter(isStop), []);
    });
  }
  const isStop = ({ kind }: { kind: string }) => kind === "set-desired-stopped";

  test("Starting, Stopping and Stopped have the fallback as their endpoint", () => {
    const plans = [
      decide(observedWaiting(), now),
      decide(observedRunning({ server: stopped, status: { phase: "Stopping" } }), now),
      decide(observedNew({ server: stopped }), now),
    ];
    assert.deepEqual(
      plans.map(({ status }) => [status.phase, status.endpoint?.mode, status.endpoint?.address]),
      [
        ["Starting", "fallback", "login"],
        ["Stopping", "fallback", "login"],
        ["Stopped", "fallback", "login"],
      ],
    );
  });

  test("Running and asked to restart is saved, gets a new pod and is Starting with RestartRequested", () => {
    const server = aServer({}, { annotations: { [annotation.restart]: at } });
    const plan = expect(observedRunning({ server, probe: someone }), {
      phase: "Starting",
      ready: "False/RestartRequested",
      requeue: 2_000,
    });
    assert.deepEqual(effectsOf(plan), ["save-world", "delete-pod", "remove-annotation"]);
    assert.deepEqual(notesOf(plan), ["Normal RestartRequested"]);
    assert.deepEqual([plan.status.startRequestedAt, plan.status.autoRestarts], [at, 0]);
  });

  test("a restart that players have time for runs on until then, and a pass is due at that moment", () => {
    const due = (ms: number) =>
      aServer({}, { annotations: { [annotation.restart]: new Date(now + ms).toISOString() } });
    const plan = decide(observedRunning({ server: due(7_000), probe: someone }), now);
    assert.deepEqual([plan.status.phase, effectsOf(plan)], ["Running", []]);
    assert.deepEqual(plan.requeue, { afterMs: 7_000 });
    assert.equal(decide(observedRunning({ server: due(0), probe: someone }), now).status.phase, "Starting");
    const lost = { server: due(7_000), pod: undefined };
    assert.deepEqual(effectsOf(decide(observedRunning(lost), now)), ["remove-annotation"]);
  });

  test("a pod that was deleted for a restart counts as gone before the cluster says so", () => {
    const server = aServer({}, { annotations: { [annotation.restart]: at } });
    const before = observedRunning({ server });
    const plan = decide(before, now);
    const next = { ...before, server: aServer(), status: plan.status, memory: plan.memory };
    assert.equal(isPodReady(next), false);
    assert.equal(decide(next, now).status.phase, "Starting");
    const fresh = aPod({ isReady: true });
    const again = { ...next, pod: { ...fresh, metadata: { ...fresh.metadata, uid: "another-uid" } } };
    assert.equal(decide(again, now).status.phase, "Running");
  });

  for (const status of [startingSince(5), failedSince(400, "StartupTimeout", 3)]) {
    test(`a restart that finds the server ${status.phase} is only dropped`, () => {
      const server = aServer({}, { annotations: { [annotation.restart]: at } });
      const plan = decide(observedWaiting({ server, status }), now);
      assert.deepEqual(effectsOf(plan), ["remove-annotation"]);
      assert.equal(plan.status.phase, status.phase);
    });
  }

  test("a restart overtaken by a stop is only dropped", () => {
    const server = aServer({ desiredState: "Stopped" }, { annotations: { [annotation.restart]: at } });
    const plan = decide(observedNew({ server }), now);
    assert.deepEqual([plan.status.phase, effectsOf(plan)], ["Stopped", ["remove-annotation"]]);
  });
});
