// The RCON password on a cluster: created when missing, waited for when malformed, and a change restarts the pod.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { annotation, servers } from "../cluster/resource.ts";
import { type FakeNode, startFakeNode } from "../testing/fake-node.ts";
import { fastSettings } from "../testing/fast-settings.ts";
import { startTestCluster, type TestCluster } from "../testing/fixture.ts";
import { type OperatorFixture, openOperatorFixture } from "../testing/operator-fixture.ts";

const namespace = "minecraft";
const target = { name: "rolling", namespace };
const secretTarget = { name: "rolling-rcon", namespace };

let cluster: TestCluster;
let operators: OperatorFixture;
let node: FakeNode;
before(async () => {
  cluster = await startTestCluster({ nodes: 0 });
  operators = await openOperatorFixture({ ...cluster, namespace });
  node = await startFakeNode({ kube: operators.kube, namespace, getsReady: () => true });
  await operators.start(fastSettings);
  await operators.makeServer("rolling", { desiredState: "Running" });
});
after(async () => {
  await node.stop();
  await operators.close();
  await cluster.close();
});

const status = async () => (await operators.kube.get(servers, target)).status;
const isRunning = () => until(async () => (await status())?.phase === "Running");
const podUid = async () =>
  (await operators.kube.find(resources.pods, { name: "rolling-0", namespace }))?.metadata.uid;
const digest = async () => {
  const set = await operators.kube.get(resources.statefulSets, target);
  return set.spec.template.metadata?.annotations?.[annotation.rconSecret];
};

test("a deleted Secret is created again, and the pod restarts with its password", async () => {
  await isRunning();
  const [uid, before] = [await podUid(), await digest()];
  await operators.kube.remove(resources.secrets, secretTarget);
  await until(async () => {
    const now = await podUid();
    return now !== undefined && now !== uid && (await digest()) !== before;
  });
  await isRunning();
  const { data } = await operators.kube.get(resources.secrets, secretTarget);
  assert.match(Buffer.from(data?.["password"] ?? "", "base64").toString(), /^[0-9a-f]{32}$/);
  const made = async () => {
    const { items } = await operators.kube.list(resources.events, { namespace });
    // Equal messages within ten minutes are one Event with a count.
    const received = items.filter(({ reason }) => reason === "RconSecretCreated");
    return received.reduce((sum, { count }) => sum + count, 0);
  };
  await until(async () => (await made()) === 2);
});

test("a malformed Secret blocks the next start until it is corrected", async () => {
  const data = (password: string) => ({
    merge: { data: { password: Buffer.from(password).toString("base64") } },
  });
  const desire = (desiredState: string) =>
    operators.kube.patch(servers, target, { merge: { spec: { desiredState } } });
  await desire("Stopped");
  await until(async () => (await status())?.phase === "Stopped");
  await operators.kube.patch(resources.secrets, secretTarget, data("two\nlines"));
  await desire("Running");
  await until(async () =>
    Boolean(
      (await status())?.conditions?.some(
        ({ type, reason }) => type === "Ready" && reason === "RconSecretUnavailable",
      ),
    ),
  );
  assert.equal((await operators.kube.get(resources.statefulSets, target)).spec.replicas, 0);
  await operators.kube.patch(resources.secrets, secretTarget, data("0".repeat(32)));
  await isRunning();
});
