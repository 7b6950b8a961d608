// Whatever happens to servers in whatever order, on a real API server: when it is over they agree with what is wanted,
// nothing of the way there is left behind, and a world that is held was never opened.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { isKubeError, resources } from "@svc/kube";
import { isFault } from "@svc/proto";
import { acquireLock, type Hold } from "@svc/world-lock";
import { annotation, type Server, servers } from "../cluster/resource.ts";
import { type FakeNode, startFakeNode } from "../testing/fake-node.ts";
import { type OperatorReplica, type Operators, openOperators } from "../testing/operators.ts";
import { quickSettings } from "../testing/quick.ts";
import { startTestCluster, type TestCluster } from "../testing/stage.ts";

const namespace = "minecraft";
const names = Array.from({ length: 8 }, (_, index) => `walker-${index}`);
const steps = 260;
/** A stop with its notice, a start with its restarts, an abandoned lock and a lost leader: all of it after another. */
const settleMs = 12_000;

/** A walk that fails can be walked again: `SVC_WALK_SEED=<seed>`. */
const seed = Number(process.env["SVC_WALK_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

function createRandom(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

let cluster: TestCluster;
let operators: Operators;
let node: FakeNode;
let replica: OperatorReplica;
const holds = new Map<string, Hold>();
const overrun: string[] = [];

before(async () => {
  cluster = await startTestCluster({ nodes: 0 });
  operators = await openOperators({ ...cluster, namespace });
  node = await startFakeNode({
    kube: operators.kube,
    namespace,
    getsReady: (pod) => !pod.spec?.containers[0]?.image?.includes("never"),
    onPod: ({ metadata }) => {
      const hold = holds.get(metadata.name.replace(/-0$/, ""));
      if (hold && !hold.signal.aborted) overrun.push(metadata.name);
    },
  });
  replica = await operators.start(quickSettings);
});
after(async () => {
  await Promise.all([...holds.values()].map((hold) => hold.release()));
  await node.stop();
  await operators.close();
  await cluster.close();
});

const read = (name: string) => operators.kube.get(servers, { name, namespace });
const change = (name: string, merge: unknown) =>
  operators.kube.patch(servers, { name, namespace }, { merge });
const ask = (name: string, key: string) =>
  change(name, { metadata: { annotations: { [key]: new Date().toISOString() } } });

async function lock(name: string): Promise<void> {
  if (holds.has(name)) return;
  const deps = { kube: operators.kube, ttlMs: 1_000, refreshMs: 250 };
  try {
    const options = { kind: "backup", mustBeStopped: true } as const;
    holds.set(name, await acquireLock(deps, { name, namespace }, options));
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}

async function unlock(name: string): Promise<void> {
  const hold = holds.get(name);
  holds.delete(name);
  await hold?.release();
}

async function killPod(name: string): Promise<void> {
  const target = { name: `${name}-0`, namespace };
  await operators.kube.remove(resources.pods, target, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
    if (!isKubeError(error, 404)) throw error;
  });
}

async function replaceReplica(isCrash: boolean): Promise<void> {
  await (isCrash ? replica.crash() : replica.stop());
  replica = await operators.start(quickSettings);
}

type Step = (name: string) => unknown;
const { world } = { world: () => operators.world };
// A wake goes on only where no lock is, as the handlers see to; who writes the object by hand may do it at any time.
const happenings: readonly Step[] = [
  (name) => change(name, { spec: { desiredState: "Running" } }),
  (name) => change(name, { spec: { desiredState: "Running" } }),
  (name) => change(name, { spec: { desiredState: "Stopped" } }),
  (name) => change(name, { spec: { desiredState: "Stopped" } }),
  killPod,
  (name) => world().silent.add(name),
  (name) => world().silent.delete(name),
  (name) => world().players.set(name, 2),
  (name) => world().players.delete(name),
  (name) => change(name, { spec: { image: "svc.local/never:1" } }),
  (name) => change(name, { spec: { image: "svc.local/good:1" } }),
  (name) => change(name, { spec: { image: "svc.local/good:2" } }),
  (name) => change(name, { spec: { storage: { size: "bad" } } }),
  (name) => change(name, { spec: { storage: { size: "8Gi" } } }),
  (name) => change(name, { spec: { idle: { autoStopEnabled: true, emptySecondsBeforeStop: 1 } } }),
  (name) => ask(name, annotation.startRetry),
  (name) => ask(name, annotation.restart),
  lock,
  lock,
  unlock,
];

async function walk(): Promise<void> {
  const random = createRandom(seed);
  for (let step = 0; step < steps; step++) {
    if (step % 65 === 64) await replaceReplica(random(2) === 0);
    const name = names[random(names.length)] ?? "";
    await happenings[random(happenings.length)]?.(name);
    await delay(random(40));
  }
}

/** Half of them are to run, the others to rest; whatever stood in the way is gone. */
async function settle(): Promise<void> {
  for (const [index, name] of names.entries()) {
    await unlock(name);
    operators.world.silent.delete(name);
    operators.world.players.delete(name);
    const desiredState = index % 2 === 0 ? "Running" : "Stopped";
    const image = index % 4 === 2 ? "svc.local/never:2" : "svc.local/good:3";
    await change(name, { spec: { desiredState, image, storage: { size: "8Gi" }, idle: null } });
  }
}

/** What does not agree yet; empty when all is well. */
async function disagreement(name: string, index: number): Promise<string> {
  const { status = {}, metadata } = await read(name);
  const set = await operators.kube.find(resources.statefulSets, { name, namespace });
  const replicas = set?.spec.replicas ?? 0;
  const pod = node.pods().some((one) => one.metadata.name === `${name}-0`);
  const reason = status.conditions?.find(({ type }) => type === "Ready")?.reason;
  const found = `${status.phase} ${reason} replicas ${replicas} pod ${pod}`;
  const wanted =
    index % 2 === 1
      ? "Stopped Stopped replicas 0 pod false"
      : index % 4 === 2
        ? "Failed StartupTimeout replicas 1 pod true"
        : "Running RconReached replicas 1 pod true";
  if (found !== wanted) return `${name}: ${found}; wanted ${wanted}`;
  return leftBehind(name, { status, metadata });
}

function leftBehind(name: string, { status = {}, metadata }: Pick<Server, "status" | "metadata">): string {
  const anchors = ["startRequestedAt", "stopNoticeAt", "emptySince", "autoRestarts"] as const;
  const left: string[] = status.phase === "Failed" ? [] : anchors.filter((key) => status[key] !== undefined);
  if (status.phase === "Failed" && status.autoRestarts !== 3) left.push(`${status.autoRestarts} restarts`);
  for (const key of [annotation.startRetry, annotation.restart, annotation.maintenance]) {
    if (metadata.annotations?.[key] !== undefined) left.push(key);
  }
  return left.length > 0 ? `${name} left behind ${left.join(", ")}` : "";
}

test("any sequence of wakes, stops, dying pods, lost RCON, changes, locks and crashes ends in agreement", async (t) => {
  t.diagnostic(`SVC_WALK_SEED=${seed}`);
  for (const name of names) await operators.makeServer(name);
  await walk();
  assert.deepEqual(overrun, [], `seed ${seed}: worlds opened under a lock`);
  await settle();
  const endAt = Date.now() + settleMs;
  let open: string[] = [];
  do {
    await delay(50);
    const all = await Promise.all(names.map(disagreement));
    open = all.filter((text) => text !== "");
  } while (open.length > 0 && Date.now() < endAt);
  assert.deepEqual(open, [], `seed ${seed}`);
});
