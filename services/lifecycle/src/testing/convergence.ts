// Whatever happens to servers in whatever order, on a real API server: when it is over they agree with what is wanted,
// nothing of the way there is left behind, and a world that is held was never opened.

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { isKubeError, resources } from "@svc/kube";
import { patience } from "@svc/mesh/testing";
import { isFault } from "@svc/proto";
import { acquireLock, type HeldLock } from "@svc/world-lock";
import { annotation, type Server, servers } from "../cluster/resource.ts";
import { type FakeNode, startFakeNode } from "./fake-node.ts";
import { quickSettings } from "./fast-settings.ts";
import { type OperatorReplica, type Operators, openOperators } from "./operator-fixture.ts";

/** A stop with its notice, a start with its restarts, an abandoned lock and a lost leader: all of it after another. */
const settleMs = 12_000;

/** Where a walk takes place; `serviceKubeconfig` has the rights that we ship. */
export type WalkPlace = Parameters<typeof openOperators>[0];

export type Walk = { seed: number; servers: number; steps: number };

type Walker = {
  operators: Operators;
  node: FakeNode;
  replica: OperatorReplica;
  names: string[];
  holds: Map<string, HeldLock>;
  /** Pods that appeared while their world was held. */
  overrun: string[];
};

/** Throws, with its seed, when a walk does not end in agreement. */
export async function walkToAgreement(place: WalkPlace, walk: Walk): Promise<void> {
  const operators = await openOperators(place);
  const names = Array.from({ length: walk.servers }, (_, index) => `walk-${walk.seed.toString(36)}-${index}`);
  const holds: Walker["holds"] = new Map();
  const overrun: string[] = [];
  const node = await startFakeNode({
    kube: operators.kube,
    namespace: operators.namespace,
    getsReady: (pod) => !pod.spec?.containers[0]?.image?.includes("never"),
    onPod: ({ metadata }) => {
      const hold = holds.get(metadata.name.replace(/-0$/, ""));
      if (hold && !hold.signal.aborted) overrun.push(metadata.name);
    },
  });
  const walker: Walker = {
    operators,
    node,
    names,
    holds,
    overrun,
    replica: await operators.start(quickSettings),
  };
  try {
    for (const name of names) await operators.makeServer(name);
    await takeSteps(walker, walk);
    assert.deepEqual(overrun, [], `seed ${walk.seed}: worlds opened under a lock`);
    await settle(walker);
    await untilAgreed(walker, walk.seed);
  } finally {
    await Promise.all([...holds.values()].map((hold) => hold.release()));
    await node.stop();
    await operators.close();
  }
}

/** A small generator with a seed, so that a walk that fails can be walked again. */
function createRandom(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const targetOf = ({ operators }: Walker, name: string) => ({ name, namespace: operators.namespace });
const change = (walker: Walker, name: string, merge: unknown) =>
  walker.operators.kube.patch(servers, targetOf(walker, name), { merge });
const ask = (walker: Walker, name: string, key: string) =>
  change(walker, name, { metadata: { annotations: { [key]: new Date().toISOString() } } });

async function lock(walker: Walker, name: string): Promise<void> {
  if (walker.holds.has(name)) return;
  const deps = { kube: walker.operators.kube, ttlMs: 1_000, refreshMs: 250 };
  try {
    const options = { kind: "backup", mustBeStopped: true } as const;
    walker.holds.set(name, await acquireLock(deps, targetOf(walker, name), options));
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}

async function unlock({ holds }: Walker, name: string): Promise<void> {
  const hold = holds.get(name);
  holds.delete(name);
  await hold?.release();
}

async function killPod(walker: Walker, name: string): Promise<void> {
  const target = targetOf(walker, `${name}-0`);
  const removed = walker.operators.kube.remove(resources.pods, target, { gracePeriodSeconds: 0 });
  await removed.catch((error: unknown) => {
    if (!isKubeError(error, 404)) throw error;
  });
}

async function replaceReplica(walker: Walker, isCrash: boolean): Promise<void> {
  await (isCrash ? walker.replica.crash() : walker.replica.stop());
  walker.replica = await walker.operators.start(quickSettings);
}

type Step = (walker: Walker, name: string) => unknown;
const set =
  (spec: object): Step =>
  (walker, name) =>
    change(walker, name, { spec });
// Wakes come as somebody writes them by hand, who does not ask whether the world is held.
const happenings: readonly Step[] = [
  set({ desiredState: "Running" }),
  set({ desiredState: "Running" }),
  set({ desiredState: "Stopped" }),
  set({ desiredState: "Stopped" }),
  killPod,
  ({ operators }, name) => operators.world.silent.add(name),
  ({ operators }, name) => operators.world.silent.delete(name),
  ({ operators }, name) => operators.world.players.set(name, 2),
  ({ operators }, name) => operators.world.players.delete(name),
  set({ image: "svc.local/never:1" }),
  set({ image: "svc.local/good:1" }),
  set({ image: "svc.local/good:2" }),
  set({ storage: { size: "bad" } }),
  set({ storage: { size: "8Gi" } }),
  set({ idle: { autoStopEnabled: true, emptySecondsBeforeStop: 1 } }),
  (walker, name) => ask(walker, name, annotation.startRetry),
  (walker, name) => ask(walker, name, annotation.restart),
  lock,
  lock,
  unlock,
];

async function takeSteps(walker: Walker, { seed, steps }: Walk): Promise<void> {
  const random = createRandom(seed);
  for (let step = 0; step < steps; step++) {
    if (step % 65 === 64) await replaceReplica(walker, random(2) === 0);
    const name = walker.names[random(walker.names.length)] ?? "";
    await happenings[random(happenings.length)]?.(walker, name);
    await delay(random(40));
  }
}

/** Half of them are to run, the others to rest; whatever stood in the way is gone. */
async function settle(walker: Walker): Promise<void> {
  const { names, operators } = walker;
  for (const [index, name] of names.entries()) {
    await unlock(walker, name);
    operators.world.silent.delete(name);
    operators.world.players.delete(name);
    const desiredState = index % 2 === 0 ? "Running" : "Stopped";
    const image = index % 4 === 2 ? "svc.local/never:2" : "svc.local/good:3";
    await change(walker, name, { spec: { desiredState, image, storage: { size: "8Gi" }, idle: null } });
  }
}

async function untilAgreed(walker: Walker, seed: number): Promise<void> {
  const endAt = Date.now() + settleMs * patience;
  let open: string[] = [];
  do {
    await delay(50);
    const all = await Promise.all(walker.names.map((name, index) => disagreement(walker, name, index)));
    open = all.filter((text) => text !== "");
  } while (open.length > 0 && Date.now() < endAt);
  assert.deepEqual(open, [], `seed ${seed}`);
}

/** What does not agree yet; empty when all is well. */
async function disagreement(walker: Walker, name: string, index: number): Promise<string> {
  const { kube } = walker.operators;
  const server = await kube.get(servers, targetOf(walker, name));
  const { status = {} } = server;
  const statefulSet = await kube.find(resources.statefulSets, targetOf(walker, name));
  const replicas = statefulSet?.spec.replicas ?? 0;
  const pod = walker.node.pods().some((one) => one.metadata.name === `${name}-0`);
  const reason = status.conditions?.find(({ type }) => type === "Ready")?.reason;
  const found = `${status.phase} ${reason} replicas ${replicas} pod ${pod}`;
  const wanted =
    index % 2 === 1
      ? "Stopped Stopped replicas 0 pod false"
      : index % 4 === 2
        ? "Failed StartupTimeout replicas 1 pod true"
        : "Running RconReached replicas 1 pod true";
  return found === wanted ? leftBehind(server) : `${name}: ${found}; wanted ${wanted}`;
}

function leftBehind({ status = {}, metadata }: Server): string {
  const anchors = ["startRequestedAt", "stopNoticeAt", "emptySince", "autoRestarts"] as const;
  const left: string[] = status.phase === "Failed" ? [] : anchors.filter((key) => status[key] !== undefined);
  if (status.phase === "Failed" && status.autoRestarts !== 3) left.push(`${status.autoRestarts} restarts`);
  for (const key of [annotation.startRetry, annotation.restart, annotation.maintenance]) {
    if (metadata.annotations?.[key] !== undefined) left.push(key);
  }
  return left.length > 0 ? `${metadata.name} left behind ${left.join(", ")}` : "";
}
