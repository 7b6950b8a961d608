// The table and the rules of interface.md 3.1, row by row, and what behaviour.md b adds to them. What happens around
// them is in decide.test.ts; that a real cluster does it is in run.test.ts and in testing/operators.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotation } from "../cluster/resource.ts";
import {
  aPod,
  aServer,
  aService,
  aStatefulSet,
  defaults,
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
import { isPodReady, type Observed } from "./observed.ts";
import type { Plan } from "./plan.ts";

const seconds = (count: number) => count * 1_000;
const at = new Date(now).toISOString();
const refused = { kind: "failed", problem: "RCON: refused" } as const;
const someone = { kind: "reached", count: { online: 2, max: 20 } } as const;
const stopped = aServer({ desiredState: "Stopped" });
const idleServer = aServer({ idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 } });

type Short = { phase: string | undefined; ready: string; requeue: number | "on-change" };

/** Phase, `status/reason` of Ready, and the wait. */
function short(plan: Plan): Short {
  const { phase } = plan.status;
  const requeue = plan.requeue === "on-change" ? plan.requeue : plan.requeue.afterMs;
  return { phase, ready: conditionsOf(plan)["Ready"] ?? "", requeue };
}

function conditionsOf({ status }: Plan): Record<string, string> {
  return Object.fromEntries(
    (status.conditions ?? []).map((one) => [one.type, `${one.status}/${one.reason}`]),
  );
}

const effectsOf = ({ effects }: Plan) => effects.map(({ kind }) => kind);
const notesOf = ({ notes }: Plan) => notes.map(({ type, reason }) => `${type} ${reason}`);

function expect(observed: Observed, wanted: Short): Plan {
  const plan = decide(observed, now);
  assert.deepEqual(short(plan), wanted);
  return plan;
}

describe("the table of phases", () => {
  test("Stopped and asked to run is Starting, with its anchor set and the fallback as its endpoint", () => {
    const plan = expect(observedNew(), { phase: "Starting", ready: "False/PodNotReady", requeue: 2_000 });
    assert.equal(plan.status.startRequestedAt, at);
    assert.deepEqual(plan.status.endpoint, { mode: "fallback", address: "login" });
  });

  test("Starting with a ready pod that RCON lets us into is Running at its direct address", () => {
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

  test("Starting without RCON within startup.readinessTimeoutSeconds is Failed with ReadinessTimeout, from the same anchor", () => {
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
    test(`${phase} with a spec that cannot be built is Failed with InvalidSpec`, () => {
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

  test("Failed by time is tried again by itself three times, after 1, 2 and 4 minutes, and then not any more", () => {
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

  test("an old template that the cluster has not looked at yet replaces nothing", () => {
    const set = aStatefulSet(aServer(), { replicas: 1 });
    const pod = aPod({ isReady: false, revision: "rev-0" });
    const statefulSet = { ...set, metadata: { ...set.metadata, generation: 2 } };
    assert.deepEqual(effectsOf(decide(observedWaiting({ pod, statefulSet }), now)), []);
  });

  test("Running and asked to stop with players on tells them, waits 30 s, tells them again and stops", () => {
    const first = expect(observedRunning({ server: stopped, probe: someone }), {
      phase: "Running",
      ready: "True/RconReached",
      requeue: 30_000,
    });
    assert.equal(first.status.stopNoticeAt, at);
    assert.deepEqual(notesOf(first), ["Normal StopNotice"]);
    const told = { ...first.status, stopNoticeAt: secondsBefore(30) };
    const second = decide(observedRunning({ server: stopped, status: told }), now);
    assert.equal(second.status.phase, "Stopping");
    assert.deepEqual(second.effects, [{ kind: "announce", message: "stop-now" }]);
    const third = decide(observedRunning({ server: stopped, status: second.status }), now);
    assert.deepEqual(effectsOf(third), ["save-world", "scale-down"]);
  });

  test("Running and asked to stop without knowing that nobody is on tells whoever is", () => {
    const plan = decide(observedRunning({ server: stopped, probe: { kind: "reached" } }), now);
    assert.equal(plan.status.stopNoticeAt, at);
  });

  test("a start within the notice calls the stop off and tells the players", () => {
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
    test(`a restart that finds the server ${status.phase} is only forgotten`, () => {
      const server = aServer({}, { annotations: { [annotation.restart]: at } });
      const plan = decide(observedWaiting({ server, status }), now);
      assert.deepEqual(effectsOf(plan), ["remove-annotation"]);
      assert.equal(plan.status.phase, status.phase);
    });
  }

  test("a restart that was overtaken by a stop is only forgotten", () => {
    const server = aServer({ desiredState: "Stopped" }, { annotations: { [annotation.restart]: at } });
    const plan = decide(observedNew({ server }), now);
    assert.deepEqual([plan.status.phase, effectsOf(plan)], ["Stopped", ["remove-annotation"]]);
  });
});

describe("the rules below the table", () => {
  const notYet: [reason: string, wait: number, observed: Observed][] = [
    ["PodNotReady", 2, observedWaiting()],
    [
      "ServiceAddressPending",
      2,
      observedRunning({
        status: startingSince(9),
        service: aServiceWithoutAddress(),
        probe: { kind: "none" },
      }),
    ],
    ["RconSecretUnavailable", 10, observedWaiting({ secret: { kind: "unusable", problem: "no password" } })],
    ["RconNotReachable", 2, observedRunning({ status: startingSince(9), probe: refused })],
  ];
  for (const [reason, wait, observed] of notYet) {
    test(`rule 1: ${reason} is the reason of Ready and of RconReached, looked at again after ${wait} s`, () => {
      const plan = expect(observed, { phase: "Starting", ready: `False/${reason}`, requeue: seconds(wait) });
      assert.equal(conditionsOf(plan)["RconReached"], `False/${reason}`);
    });
  }

  test("rule 1: a running server whose Secret gets malformed goes on with its players, who cannot be counted", () => {
    let observed = observedRunning({
      secret: { kind: "unusable", problem: "no password" },
      probe: { kind: "none" },
    });
    for (let pass = 0; pass < 5; pass++) {
      const plan = expect(observed, { phase: "Running", ready: "True/RconReached", requeue: seconds(10) });
      assert.equal(conditionsOf(plan)["PlayersCounted"], "False/ListUnreadable");
      assert.deepEqual(plan.effects, []);
      observed = { ...observed, status: plan.status, memory: plan.memory };
    }
  });

  test("rule 1: a Secret that is missing is made, and the start goes on", () => {
    const plan = decide(observedWaiting({ secret: { kind: "missing", fresh: password } }), now);
    assert.ok(effectsOf(plan).includes("create-secret"));
    assert.equal(plan.status.phase, "Starting");
  });

  test("rule 2: two probes that fail in a row change nothing, the third makes a running server starting", () => {
    let memory = observedRunning().memory;
    const phases: (string | undefined)[] = [];
    for (let miss = 1; miss <= 3; miss++) {
      const plan = decide(observedRunning({ probe: refused, memory }), now);
      phases.push(plan.status.phase);
      memory = plan.memory;
    }
    assert.deepEqual(phases, ["Running", "Running", "Starting"]);
    assert.equal(defaults.probe_timeout, 5_000);
  });

  test("rule 3: failing leaves the endpoint as it was, so that routing must ask for Running as well", () => {
    const endpoint = { mode: "direct" as const, address: "10.0.0.7:25565" };
    const plan = decide(observedWaiting({ status: { ...startingSince(300), endpoint } }), now);
    assert.deepEqual(
      [plan.status.phase, plan.status.endpoint, plan.status.ready],
      ["Failed", endpoint, false],
    );
  });

  for (const emptySince of [undefined, secondsBefore(1_000)]) {
    const what = emptySince ? "is neither cleared nor over" : "does not start";
    test(`rule 4: an unreadable count keeps the last one, and the idle clock ${what}`, () => {
      const status = { ...emptyRunning, players: { online: 4, max: 20 }, ...(emptySince && { emptySince }) };
      const plan = decide(observedRunning({ server: idleServer, status, probe: { kind: "reached" } }), now);
      assert.equal(conditionsOf(plan)["PlayersCounted"], "False/ListUnreadable");
      assert.deepEqual(plan.status.players, { online: 4, max: 20 });
      assert.equal(plan.status.emptySince, emptySince);
      assert.deepEqual(plan.effects, []);
    });
  }

  test("rule 6: with players on they are counted again after 30 s", () => {
    const plan = expect(observedRunning({ server: idleServer, probe: someone }), {
      phase: "Running",
      ready: "True/RconReached",
      requeue: 30_000,
    });
    assert.equal(conditionsOf(plan)["PlayersCounted"], "True/Counted");
  });

  test("rule 7: a server whose pod still ends is not Stopped yet", () => {
    const set = aStatefulSet(stopped, { replicas: 0, left: 0 });
    const plan = decide(
      observedNew({ server: stopped, statefulSet: set, pod: aPod({ isReady: false, isLeaving: true }) }),
      now,
    );
    assert.deepEqual([plan.status.phase, short(plan).requeue], ["Stopping", 5_000]);
  });

  test("rule 8: nothing that a pass can do deletes a claim, and a set keeps its claims when it goes", () => {
    const plan = decide(observedNew(), now);
    const made = plan.effects.find(({ kind }) => kind === "create-stateful-set");
    assert.ok(made?.kind === "create-stateful-set");
    const { spec, metadata } = made.statefulSet;
    assert.deepEqual(spec.persistentVolumeClaimRetentionPolicy, {
      whenDeleted: "Retain",
      whenScaled: "Retain",
    });
    assert.equal(spec.volumeClaimTemplates?.[0]?.metadata?.ownerReferences, undefined);
    assert.equal(metadata.ownerReferences?.[0]?.kind, "MinecraftServer");
  });

  for (const holder of ["restore", "backup", "export", "file-write", "reap", "migration"]) {
    test(`rule 9: a world held by ${holder} is not started, and Ready says MaintenanceInProgress`, () => {
      const plan = expect(observedNew({ holder }), {
        phase: "Stopped",
        ready: "False/MaintenanceInProgress",
        requeue: 5_000,
      });
      assert.deepEqual(plan.effects, []);
      assert.equal(plan.status.startRequestedAt, undefined);
    });
  }

  test("rule 9: the anchor of a start that has to wait stays as it is", () => {
    const status = startingSince(100);
    const plan = decide(observedNew({ holder: "backup", status }), now);
    assert.deepEqual(
      [plan.status.phase, plan.status.startRequestedAt],
      ["Starting", status.startRequestedAt],
    );
  });
});

describe("what behaviour.md b adds", () => {
  test("a node that is not admitted poisons the Service, empties the endpoint and moves nothing", () => {
    const node = { kind: "unavailable", problem: "node n1 is offline" } as const;
    const plan = expect(observedRunning({ node }), {
      phase: "Running",
      ready: "False/NodeUnavailable",
      requeue: 10_000,
    });
    assert.deepEqual(plan.status.endpoint, { mode: "fallback", address: "" });
    assert.equal(plan.status.ready, false);
    const [effect] = plan.effects;
    assert.ok(effect?.kind === "patch-service");
    assert.equal(effect.service.spec?.selector?.["svc.internal/node-online"], "true");
  });

  test("a node that is back opens the Service again", () => {
    const service = aService(aServer());
    const poisoned = {
      ...service,
      spec: { ...service.spec, selector: { ...service.spec?.selector, "svc.internal/node-online": "true" } },
    };
    const plan = decide(observedRunning({ service: poisoned }), now);
    const [effect] = plan.effects;
    assert.ok(effect?.kind === "patch-service");
    assert.equal(effect.service.spec?.selector?.["svc.internal/node-online"], undefined);
  });

  for (const [elapsed, starts] of [
    [179, false],
    [180, true],
  ] as const) {
    test(`an empty server ${elapsed} s after its first ready probe ${starts ? "starts" : "does not start"} its idle clock`, () => {
      const status = { ...emptyRunning, readySignalAt: secondsBefore(elapsed) };
      const plan = decide(observedRunning({ server: idleServer, status }), now);
      assert.equal(plan.status.emptySince, starts ? at : undefined);
    });
  }

  test("the label forwarding=legacy neither reaches the pod nor restarts it", () => {
    const server = aServer({}, { labels: { "svc.internal/forwarding": "legacy" } });
    const plan = decide(
      observedRunning({ server, statefulSet: aStatefulSet(aServer(), { replicas: 1, ready: 1 }) }),
      now,
    );
    assert.deepEqual(plan.effects, []);
  });

  test("a Secret that was made anew rolls the pod by the annotation rcon-secret of its template", () => {
    const before = aStatefulSet(aServer(), { replicas: 1, ready: 1 });
    const secret = { kind: "present", password: "f".repeat(32) } as const;
    const plan = decide(observedRunning({ statefulSet: before, secret }), now);
    const [effect] = plan.effects;
    assert.ok(effect?.kind === "update-stateful-set");
    const digest = effect.statefulSet.spec.template.metadata?.annotations?.[annotation.rconSecret];
    assert.match(digest ?? "", /^[0-9a-f]{16}$/);
    assert.notEqual(digest, before.spec.template.metadata?.annotations?.[annotation.rconSecret]);
  });

  test("another platform image leaves a running pod alone and comes with the next start", () => {
    const older = { ...defaults, platform_image: "svc:1" };
    const settings = { ...defaults, platform_image: "svc:2" };
    const server = aServer();
    const running = aStatefulSet(server, { replicas: 1, ready: 1, settings: older });
    assert.deepEqual(decide(observedRunning({ server, statefulSet: running, settings }), now).effects, []);
    const resting = aStatefulSet(server, { replicas: 0, settings: older });
    const [effect] = decide(
      observedNew({
        server,
        statefulSet: resting,
        service: aService(server),
        headless: aService(server),
        secret: { kind: "present", password },
        settings,
      }),
      now,
    ).effects;
    assert.ok(effect?.kind === "update-stateful-set");
    assert.equal(effect.statefulSet.spec.template.spec?.initContainers?.[0]?.image, "svc:2");
  });

  test("a Failed server that is to stop goes through Stopping to Stopped", () => {
    const failed = failedSince(400, "StartupTimeout", 3);
    const first = decide(observedWaiting({ server: stopped, status: failed }), now);
    assert.equal(first.status.phase, "Stopping");
    const last = decide(observedNew({ server: stopped, status: first.status }), now);
    assert.equal(last.status.phase, "Stopped");
    for (const key of ["startRequestedAt", "emptySince", "autoRestarts", "players", "readySignalAt"] as const)
      assert.equal(last.status[key], undefined);
    assert.deepEqual(conditionsOf(last)["Ready"], "False/Stopped");
    assert.deepEqual(conditionsOf(last)["RconReached"], "False/Stopped");
  });

  test("Running without RCON is looked at every 60 s", () => {
    const server = aServer({ rcon: { enabled: false } });
    assert.equal(short(decide(observedRunning({ server }), now)).requeue, 60_000);
  });

  test("a pass never writes Unknown, and moves a server that nobody looked at yet", () => {
    assert.equal(decide(observedNew({ server: stopped, status: {} }), now).status.phase, "Stopped");
    assert.equal(decide(observedNew({ status: {} }), now).status.phase, "Starting");
    assert.equal(decide(observedNew({ status: {}, holder: "backup" }), now).status.phase, "Stopped");
  });

  test("a world that was moved lies in its own claim: a set at rest is made anew for it, a running one is left", () => {
    const moved = aServer({ storage: { claimName: "world-survival-n2" } });
    const before = aStatefulSet(aServer(), { replicas: 0 });
    const common = {
      server: moved,
      service: aService(moved),
      headless: aService(moved),
      secret: { kind: "present", password },
    } as const;
    const [effect] = decide(observedNew({ ...common, statefulSet: before }), now).effects;
    assert.ok(effect?.kind === "replace-stateful-set");
    assert.equal(effect.statefulSet.spec.volumeClaimTemplates, undefined);
    const volume = effect.statefulSet.spec.template.spec?.volumes?.[0];
    assert.deepEqual(volume, { name: "world", persistentVolumeClaim: { claimName: "world-survival-n2" } });
    const running = aStatefulSet(aServer(), { replicas: 1, ready: 1 });
    assert.deepEqual(decide(observedRunning({ ...common, statefulSet: running }), now).effects, []);
  });
});

function aServiceWithoutAddress() {
  const service = aService(aServer());
  const { clusterIP: _none, ...spec } = service.spec ?? {};
  return { ...service, spec };
}
