// A random sequence of events on servers of a real API server. When it is over, every server converges to its desired
// state, no trace of intermediate states is left, and no locked world was ever opened.

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { isKubeError, resources } from "@svc/kube";
import { createRandomIntegers, patience } from "@svc/mesh/testing";
import { isFault } from "@svc/proto";
import { acquireLock, type HeldLock } from "@svc/world-lock";
import { annotation, type Server, servers } from "../cluster/resource.ts";
import { type FakeNode, startFakeNode } from "./fake-node.ts";
import { fastSettings } from "./fast-settings.ts";
import { type OperatorFixture, type OperatorReplica, openOperatorFixture } from "./operator-fixture.ts";

/** Covers a stop with its notice, a start with its restarts, an abandoned lock and a lost leader, one after another. */
const settleMs = 12_000;

/** The cluster of a walk; `serviceKubeconfig` has the rights that we ship. */
type WalkCluster = Parameters<typeof openOperatorFixture>[0];

type Walk = { seed: number; servers: number; steps: number };

type Walker = {
  operators: OperatorFixture;
  node: FakeNode;
  replica: OperatorReplica;
  names: string[];
  locks: Map<string, HeldLock>;
  /** Servers whose lock was not refreshed in time: its annotation stays and has no effect. */
  abandoned: Set<string>;
  /** Pods that appeared while their world was locked. */
  violations: string[];
};

/** Throws, with its seed, when a walk does not converge. */
export async function walkToConvergence(cluster: WalkCluster, walk: Walk): Promise<void> {
  const operators = await openOperatorFixture(cluster);
  const names = Array.from({ length: walk.servers }, (_, index) => `walk-${walk.seed.toString(36)}-${index}`);
  const locks: Walker["locks"] = new Map();
  const violations: string[] = [];
  const node = await startFakeNode({
    kube: operators.kube,
    namespace: operators.namespace,
    getsReady: (pod) => !pod.spec?.containers[0]?.image?.includes("never"),
    onPod: ({ metadata }) => {
      const held = locks.get(metadata.name.replace(/-0$/, ""));
      if (held && !held.signal.aborted) violations.push(metadata.name);
    },
  });
  const walker: Walker = {
    operators,
    node,
    names,
    locks,
    abandoned: new Set(),
    violations,
    replica: await operators.start(fastSettings),
  };
  try {
    for (const name of names) await operators.makeServer(name);
    await takeSteps(walker, walk);
    assert.deepEqual(violations, [], `seed ${walk.seed}: worlds opened under a lock`);
    await settle(walker);
    await untilConverged(walker, walk.seed);
  } finally {
    await Promise.all([...locks.values()].map((held) => held.release()));
    await node.stop();
    await operators.close();
  }
}

const targetOf = ({ operators }: Walker, name: string) => ({ name, namespace: operators.namespace });
const change = (walker: Walker, name: string, merge: unknown) =>
  walker.operators.kube.patch(servers, targetOf(walker, name), { merge });
const ask = (walker: Walker, name: string, key: string) =>
  change(walker, name, { metadata: { annotations: { [key]: new Date().toISOString() } } });

async function lock(walker: Walker, name: string): Promise<void> {
  if (walker.locks.has(name)) return;
  const deps = { kube: walker.operators.kube, ttlMs: 1_000, refreshMs: 250 };
  try {
    const options = { kind: "backup", mustBeStopped: true } as const;
    walker.locks.set(name, await acquireLock(deps, targetOf(walker, name), options));
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}

async function unlock({ locks, abandoned }: Walker, name: string): Promise<void> {
  const held = locks.get(name);
  if (held === undefined) return;
  locks.delete(name);
  await held.release();
  if (held.signal.aborted) abandoned.add(name);
  else abandoned.delete(name);
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
  walker.replica = await walker.operators.start(fastSettings);
}

type Step = (walker: Walker, name: string) => unknown;
const set =
  (spec: object): Step =>
  (walker, name) =>
    change(walker, name, { spec });
// Wakes are written without checking whether the world is locked, as somebody with kubectl would.
const events: readonly Step[] = [
  set({ desiredState: "Running" }),
  set({ desiredState: "Running" }),
  set({ desiredState: "Stopped" }),
  set({ desiredState: "Stopped" }),
  killPod,
  ({ operators }, name) => operators.fakeServers.silent.add(name),
  ({ operators }, name) => operators.fakeServers.silent.delete(name),
  ({ operators }, name) => operators.fakeServers.players.set(name, 2),
  ({ operators }, name) => operators.fakeServers.players.delete(name),
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
  const random = createRandomIntegers(seed);
  for (let step = 0; step < steps; step++) {
    if (step % 65 === 64) await replaceReplica(walker, random(2) === 0);
    const name = walker.names[random(walker.names.length)] ?? "";
    await events[random(events.length)]?.(walker, name);
    await delay(random(40));
  }
}

/** Asks half of the servers to run and the others to stop, and removes all obstacles. */
async function settle(walker: Walker): Promise<void> {
  const { names, operators } = walker;
  for (const [index, name] of names.entries()) {
    await unlock(walker, name);
    operators.fakeServers.silent.delete(name);
    operators.fakeServers.players.delete(name);
    const desiredState = index % 2 === 0 ? "Running" : "Stopped";
    const image = index % 4 === 2 ? "svc.local/never:2" : "svc.local/good:3";
    await change(walker, name, { spec: { desiredState, image, storage: { size: "8Gi" }, idle: null } });
  }
}

async function untilConverged(walker: Walker, seed: number): Promise<void> {
  const endAt = Date.now() + settleMs * patience;
  let open: string[] = [];
  do {
    await delay(50);
    const all = await Promise.all(walker.names.map((name, index) => differenceOf(walker, name, index)));
    open = all.filter((text) => text !== "");
  } while (open.length > 0 && Date.now() < endAt);
  assert.deepEqual(open, [], `seed ${seed}`);
}

/** How a server differs from its desired state; empty when it does not. */
async function differenceOf(walker: Walker, name: string, index: number): Promise<string> {
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
  return found === wanted ? leftBehind(walker, server) : `${name}: ${found}; wanted ${wanted}`;
}

function leftBehind({ abandoned }: Walker, { status = {}, metadata }: Server): string {
  const anchors = ["startRequestedAt", "stopNoticeAt", "emptySince", "autoRestarts"] as const;
  const left: string[] = status.phase === "Failed" ? [] : anchors.filter((key) => status[key] !== undefined);
  if (status.phase === "Failed" && status.autoRestarts !== 3) left.push(`${status.autoRestarts} restarts`);
  const keys: string[] = [annotation.startRetry, annotation.restart];
  if (!abandoned.has(metadata.name)) keys.push(annotation.maintenance);
  left.push(...keys.filter((key) => metadata.annotations?.[key] !== undefined));
  return left.length > 0 ? `${metadata.name} left behind ${left.join(", ")}` : "";
}
