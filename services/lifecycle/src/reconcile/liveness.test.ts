// Passes that take too long, and what is left of them.

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
afterEach(() => {
  operators.world.beforeWrite = undefined;
});

const phaseOf = async (name: string) =>
  (await operators.kube.get(servers, { name, namespace })).status?.phase;

/** The next write waits until the test lets it go. */
function holdNextWrite(): { reached: Promise<void>; letGo: () => void } {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  operators.world.beforeWrite = async () => {
    operators.world.beforeWrite = undefined;
    reached.resolve();
    await gate.promise;
  };
  return { reached: reached.promise, letGo: gate.resolve };
}

test("a pass that hangs fails liveness with a sentence, holds up no other server, and heals when it ends", async () => {
  const replica = await operators.start([...fastSettings, "lifecycle.pass_stuck=1s"]);
  await until(() => replica.operator.isLeading());
  assert.equal(replica.operator.stuck(), undefined);
  const held = holdNextWrite();
  await operators.makeServer("hangs", { desiredState: "Running" });
  await held.reached;
  await operators.makeServer("goes-on", { desiredState: "Running" });
  await until(async () => (await phaseOf("goes-on")) === "Running");
  await until(() => replica.operator.stuck() !== undefined);
  assert.match(replica.operator.stuck() ?? "", /^a pass over a server takes \d+ s$/);
  held.letGo();
  await until(async () => (await phaseOf("hangs")) === "Running");
  await until(() => replica.operator.stuck() === undefined);
  await replica.stop();
});

test("a pass whose time is over does nothing more, and the next one does the rest", async () => {
  const replica = await operators.start([...fastSettings, "lifecycle.pass_limit=200ms"]);
  await until(() => replica.operator.isLeading());
  const held = holdNextWrite();
  await operators.makeServer("late", { desiredState: "Running" });
  await held.reached;
  const heldAt = performance.now();
  await until(() => performance.now() - heldAt > 250);
  held.letGo();
  await until(async () => (await phaseOf("late")) === "Running");
  // It ended before its next step, as a pass that failed; what it left was done by others.
  assert.match(await replica.metrics(), /svc_reconciles_total\{result="failed"\} 1$/m);
  await replica.stop();
});
