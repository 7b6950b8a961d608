// A start and a lock on the world, step by step: exactly one of the two succeeds.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { acquireLock, type HeldLock, lockValue } from "@svc/world-lock";
import { annotation, servers } from "../cluster/resource.ts";
import { type FakeNode, startFakeNode } from "../testing/fake-node.ts";
import { fastSettings } from "../testing/fast-settings.ts";
import { startTestCluster, type TestCluster } from "../testing/fixture.ts";
import { type OperatorFixture, openOperatorFixture } from "../testing/operator-fixture.ts";

const namespace = "minecraft";
const options = { kind: "backup", mustBeStopped: true } as const;

let cluster: TestCluster;
let operators: OperatorFixture;
let node: FakeNode;
before(async () => {
  cluster = await startTestCluster({ nodes: 0 });
  operators = await openOperatorFixture({ ...cluster, namespace });
  node = await startFakeNode({ kube: operators.kube, namespace, getsReady: () => true });
  await operators.start(fastSettings);
});
after(async () => {
  await node.stop();
  await operators.close();
  await cluster.close();
});
beforeEach(() => {
  operators.fakeServers.beforeWrite = undefined;
});

const target = (name: string) => ({ name, namespace });
const change = (name: string, merge: unknown) => operators.kube.patch(servers, target(name), { merge });
const setOf = (name: string) => operators.kube.find(resources.statefulSets, target(name));
const states = async (name: string) => {
  const { status } = await operators.kube.get(servers, target(name));
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return { phase: status?.phase, reason: ready?.reason };
};
const isIn = (name: string, phase: string) => until(async () => (await states(name)).phase === phase);

test("a lock acquired while a pass starts a server ends that pass before it opens the world", async () => {
  await operators.makeServer("late");
  await isIn("late", "Stopped");
  let hold: HeldLock | undefined;
  operators.fakeServers.beforeWrite = async () => {
    operators.fakeServers.beforeWrite = undefined;
    await change("late", { spec: { desiredState: "Stopped" } });
    hold = await acquireLock({ kube: operators.kube }, target("late"), options);
    // The next passes see the lock; only the blocked one does not.
    await change("late", { spec: { desiredState: "Running" } });
  };
  await change("late", { spec: { desiredState: "Running" } });
  await until(async () => (await states("late")).reason === "MaintenanceInProgress");
  assert.equal(await setOf("late"), undefined);
  assert.equal((await states("late")).phase, "Stopped");
  hold?.assertHeld();
  await hold?.release();
  await isIn("late", "Running");
  await change("late", { spec: { desiredState: "Stopped" } });
  await isIn("late", "Stopped");
});

test("once Starting is written the world cannot be locked, before any object is created", async () => {
  await operators.makeServer("early");
  await isIn("early", "Stopped");
  const seen: string[] = [];
  operators.fakeServers.beforeWrite = async (_verb, plural) => {
    if (plural !== "statefulsets") return;
    operators.fakeServers.beforeWrite = undefined;
    const taking = acquireLock({ kube: operators.kube }, target("early"), options);
    seen.push(
      await taking.then(
        () => "locked",
        (error: { fault: string }) => error.fault,
      ),
    );
  };
  await change("early", { spec: { desiredState: "Running" } });
  await isIn("early", "Running");
  assert.deepEqual(seen, ["not_stopped"]);
});

test("a start continues automatically when a lock was abandoned", async () => {
  const value = lockValue("backup", Date.now());
  await operators.makeServer("abandoned");
  const metadata = { annotations: { [annotation.maintenance]: value } };
  await change("abandoned", { metadata, spec: { desiredState: "Running" } });
  await until(async () => (await states("abandoned")).reason === "MaintenanceInProgress");
  assert.equal(await setOf("abandoned"), undefined);
  await isIn("abandoned", "Running");
});
