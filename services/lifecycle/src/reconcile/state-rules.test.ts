// The rules below the table of docs/reference/server-states.md#phases, and what docs/reference/server-states.md#pass adds to them.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { annotation } from "../cluster/resource.ts";
import {
  at,
  conditionsOf,
  effectsOf,
  expect,
  idleServer,
  refused,
  seconds,
  short,
  someone,
  stopped,
} from "../testing/decisions.ts";
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
import type { Observed } from "./observed.ts";

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
    test(`rule 1: ${reason} is the reason of Ready and of RconReached, checked again after ${wait} s`, () => {
      const plan = expect(observed, { phase: "Starting", ready: `False/${reason}`, requeue: seconds(wait) });
      assert.equal(conditionsOf(plan)["RconReached"], `False/${reason}`);
    });
  }

  test("rule 1: a running server whose Secret becomes malformed keeps running, with an unknown player count", () => {
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

  test("rule 1: a missing Secret is created, and the start continues", () => {
    const plan = decide(observedWaiting({ secret: { kind: "missing", fresh: password } }), now);
    assert.ok(effectsOf(plan).includes("create-secret"));
    assert.equal(plan.status.phase, "Starting");
  });

  test("rule 2: two failed probes in a row change nothing, the third makes a running server Starting", () => {
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

  test("rule 6: players online are counted again after 30 s", () => {
    const plan = expect(observedRunning({ server: idleServer, probe: someone }), {
      phase: "Running",
      ready: "True/RconReached",
      requeue: 30_000,
    });
    assert.equal(conditionsOf(plan)["PlayersCounted"], "True/Counted");
  });

  test("rule 7: a server whose pod is terminating is not Stopped yet", () => {
    const set = aStatefulSet(stopped, { replicas: 0, left: 0 });
    const plan = decide(
      observedNew({ server: stopped, statefulSet: set, pod: aPod({ isReady: false, isLeaving: true }) }),
      now,
    );
    assert.deepEqual([plan.status.phase, short(plan).requeue], ["Stopping", 5_000]);
  });

  test("rule 8: no effect deletes a volume claim, and a deleted StatefulSet keeps its claims", () => {
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
    test(`rule 9: a world locked by ${holder} is not started, and Ready says MaintenanceInProgress`, () => {
      const plan = expect(observedNew({ holder }), {
        phase: "Stopped",
        ready: "False/MaintenanceInProgress",
        requeue: 5_000,
      });
      assert.deepEqual(plan.effects, []);
      assert.equal(plan.status.startRequestedAt, undefined);
    });
  }

  test("rule 9: the start time of a start that has to wait stays", () => {
    const status = startingSince(100);
    const plan = decide(observedNew({ holder: "backup", status }), now);
    assert.deepEqual(
      [plan.status.phase, plan.status.startRequestedAt],
      ["Starting", status.startRequestedAt],
    );
  });
});

describe("further rules", () => {
  test("an unavailable node makes the Service match no pod, empties the endpoint and moves nothing", () => {
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

  test("a node that is back restores the Service", () => {
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

  test("a replaced Secret restarts the pod by the annotation rcon-secret of its template", () => {
    const before = aStatefulSet(aServer(), { replicas: 1, ready: 1 });
    const secret = { kind: "present", password: "f".repeat(32) } as const;
    const plan = decide(observedRunning({ statefulSet: before, secret }), now);
    const [effect] = plan.effects;
    assert.ok(effect?.kind === "update-stateful-set");
    const digest = effect.statefulSet.spec.template.metadata?.annotations?.[annotation.rconSecret];
    assert.match(digest ?? "", /^[0-9a-f]{16}$/);
    assert.notEqual(digest, before.spec.template.metadata?.annotations?.[annotation.rconSecret]);
  });

  test("another platform image leaves a running pod alone and takes effect at the next start", () => {
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

  test("what waits for the next start of a server is there when its pod has to be made again", () => {
    const running = aStatefulSet(aServer(), { replicas: 1, ready: 1 });
    const annotations = {
      ...running.metadata.annotations,
      [annotation.wholePodTemplate]: "of the last release",
    };
    const statefulSet = { ...running, metadata: { ...running.metadata, annotations } };
    assert.deepEqual(decide(observedRunning({ statefulSet }), now).effects, []);
    const { effects } = decide(observedRunning({ statefulSet, pod: undefined }), now);
    assert.deepEqual(
      effects.map(({ kind }) => kind),
      ["update-stateful-set"],
    );
  });

  test("a pod on a node that the last release selected by another label is not restarted, and its next start selects by the protected one", () => {
    const server = aServer({ nodeName: "n1" });
    const { spec, metadata } = aStatefulSet(server, { replicas: 1, ready: 1 });
    const { enableServiceLinks: _, ...pod } = spec.template.spec ?? { containers: [] };
    assert.deepEqual(pod.nodeSelector, { [nodeLabels.identity]: "n1" });
    const before = JSON.stringify({ ...spec.template, spec: pod }).replace(
      nodeLabels.identity,
      oldNodeLabels.identity,
    );
    const digest = createHash("sha256").update(before).digest("hex").slice(0, 16);
    assert.equal(metadata.annotations?.[annotation.podTemplate], digest);
    const other = aStatefulSet(aServer({ nodeName: "n2" }), { replicas: 1, ready: 1 });
    assert.notEqual(other.metadata.annotations?.[annotation.podTemplate], digest);
  });

  test("a server starts only behind its egress policy, unless the operator says otherwise; neither restarts a pod", () => {
    const closed = { ...defaults, platform_image: "svc:1" };
    const open = { ...closed, egress_fail_open: true };
    const server = aServer();
    const argsOf = (settings: typeof defaults) =>
      aStatefulSet(server, { replicas: 1, settings }).spec.template.spec?.initContainers?.find(
        ({ name }) => name === "egress-gate",
      )?.args ?? [];
    const probe = ["--positive-probe", "kube-dns.kube-system.svc:53"];
    assert.deepEqual(argsOf(closed), ["egress-gate", "--wait", "30s", ...probe]);
    assert.deepEqual(argsOf(open), ["egress-gate", "--wait", "30s", "--fail-open", ...probe]);
    const running = aStatefulSet(server, { replicas: 1, ready: 1, settings: open });
    const observed = observedRunning({ server, statefulSet: running, settings: closed });
    assert.deepEqual(decide(observed, now).effects, []);
  });

  test("a Failed server that should stop goes through Stopping to Stopped", () => {
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

  test("Running without RCON is checked every 60 s", () => {
    const server = aServer({ rcon: { enabled: false } });
    assert.equal(short(decide(observedRunning({ server }), now)).requeue, 60_000);
  });

  test("a pass never writes Unknown, and gives a phase to a server without one", () => {
    assert.equal(decide(observedNew({ server: stopped, status: {} }), now).status.phase, "Stopped");
    assert.equal(decide(observedNew({ status: {} }), now).status.phase, "Starting");
    assert.equal(decide(observedNew({ status: {}, holder: "backup" }), now).status.phase, "Stopped");
  });

  test("a moved world has its own claim: a StatefulSet at rest is replaced for it, a running one is left alone", () => {
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
