// Passes that take too long.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { servers } from "../cluster/resource.ts";
import { type FakeNode, startFakeNode } from "../testing/fake-node.ts";
import { fastSettings } from "../testing/fast-settings.ts";
import { startTestCluster, type TestCluster } from "../testing/fixture.ts";
import { type OperatorFixture, openOperatorFixture } from "../testing/operator-fixture.ts";

const namespace = "minecraft";

let cluster: TestCluster;
let operators: OperatorFixture;
let node: FakeNode;
before(async () => {
  cluster = await startTestCluster({ nodes: 0 });
  operators = await openOperatorFixture({ ...cluster, namespace });
  node = await startFakeNode({ kube: operators.kube, namespace, getsReady: () => true });
});
after(async () => {
  await node.stop();
  await operators.close();
  await cluster.close();
});
let releaseWrite = () => {};
afterEach(() => {
  operators.fakeServers.beforeWrite = undefined;
  // A write that a failed test left blocked would keep the operators from closing.
  releaseWrite();
});

const phaseOf = async (name: string) =>
  (await operators.kube.get(servers, { name, namespace })).status?.phase;

/** Blocks the next write until it is released. */
function blockNextWrite(): { reached: Promise<void>; release: () => void } {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  operators.fakeServers.beforeWrite = async () => {
    operators.fakeServers.beforeWrite = undefined;
    reached.resolve();
    await gate.promise;
  };
  releaseWrite = gate.resolve;
  return { reached: reached.promise, release: gate.resolve };
}

test("a pass that hangs fails liveness with a reason, delays no other server, and liveness recovers when it ends", async () => {
  const replica = await operators.start([...fastSettings, "lifecycle.pass_stuck=1s"]);
  await until(() => replica.operator.isLeading());
  assert.equal(replica.operator.stuck(), undefined);
  const blocked = blockNextWrite();
  await operators.makeServer("hangs", { desiredState: "Running" });
  await blocked.reached;
  await operators.makeServer("goes-on", { desiredState: "Running" });
  await until(async () => (await phaseOf("goes-on")) === "Running");
  await until(() => replica.operator.stuck() !== undefined);
  assert.match(replica.operator.stuck() ?? "", /^a pass over a server has taken \d+ s$/);
  blocked.release();
  await until(async () => (await phaseOf("hangs")) === "Running");
  await until(() => replica.operator.stuck() === undefined);
  await replica.stop();
});

test("a pass whose time is up stops, and the next one does the rest", async () => {
  const replica = await operators.start([...fastSettings, "lifecycle.pass_limit=200ms"]);
  await until(() => replica.operator.isLeading());
  const blocked = blockNextWrite();
  await operators.makeServer("late", { desiredState: "Running" });
  await blocked.reached;
  const blockedAt = performance.now();
  await until(() => performance.now() - blockedAt > 250);
  blocked.release();
  await until(async () => (await phaseOf("late")) === "Running");
  // It ended as a failed pass, as others do that a loaded machine holds up; later ones did the rest.
  assert.match(await replica.metrics(), /svc_reconciles_total\{result="failed"\} [1-9]\d*$/m);
  await replica.stop();
});
