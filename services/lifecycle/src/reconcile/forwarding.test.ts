// The forwarding secret of a server on a cluster, with the rights that lifecycle has there: one for each run, in a file,
// and what the proxy derives from the status is what the pod got, whatever happens to the master in between.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { serverForwardingSecret, systemForwardingSecrets } from "@svc/proto";
import { servers } from "../cluster/resource.ts";
import { type FakeNode, startFakeNode } from "../testing/fake-node.ts";
import { fastSettings } from "../testing/fast-settings.ts";
import { startTestCluster, type TestCluster } from "../testing/fixture.ts";
import { type OperatorFixture, openOperatorFixture } from "../testing/operator-fixture.ts";

const namespace = "minecraft";
const [old, next] = ["o".repeat(43), "n".repeat(43)];
const dir = mkdtempSync(join(tmpdir(), "svc-forwarding-"));
const file = join(dir, "masters");

let cluster: TestCluster;
let operators: OperatorFixture;
let node: FakeNode;
before(async () => {
  writeFileSync(file, old);
  cluster = await startTestCluster({ nodes: 0 });
  operators = await openOperatorFixture({ ...cluster, namespace });
  node = await startFakeNode({ kube: operators.kube, namespace, getsReady: () => true });
  await operators.start([...fastSettings, `lifecycle.forwarding_master_file=${file}`]);
  await operators.makeServer("survival", { desiredState: "Running" });
});
after(async () => {
  await node.stop();
  await operators.close();
  await cluster.close();
  rmSync(dir, { recursive: true });
});

const read = (name: string) => operators.kube.get(servers, { name, namespace });
const desire = (desiredState: string, name = "survival") =>
  operators.kube.patch(servers, { name, namespace }, { merge: { spec: { desiredState } } });
const isIn = (phase: string, name = "survival") =>
  until(async () => (await read(name)).status?.phase === phase);
const keyOf = async (name = "survival") => (await read(name)).status?.forwardingKey ?? "";
const contentOf = async (name: string) => {
  const secret = await operators.kube.find(resources.secrets, { name: `${name}-forwarding`, namespace });
  return Buffer.from(secret?.data?.["secret"] ?? "", "base64").toString();
};
const derived = (masters: string[], key: string) =>
  `${serverForwardingSecret(masters, { name: "survival", key })}\n`;

test("the pod gets what the proxy derives from the status, in a file that only its owner reads", async () => {
  await isIn("Running");
  assert.equal(await contentOf("survival"), derived([old], await keyOf()));
  const { spec } = await operators.kube.get(resources.pods, { name: "survival-0", namespace });
  const volume = spec?.volumes?.find(({ name }) => name === "forwarding");
  assert.deepEqual(volume?.secret, { secretName: "survival-forwarding", defaultMode: 0o400 });
  const [container] = spec?.containers ?? [];
  const variables = container?.env?.filter(({ name }) => name.startsWith("SVC_FORWARDING"));
  assert.deepEqual(variables, [{ name: "SVC_FORWARDING_SECRET_FILE", value: "/run/svc/forwarding/secret" }]);
  assert.ok(!JSON.stringify(spec).includes((await contentOf("survival")).trim()));
  const secret = await operators.kube.get(resources.secrets, { name: "survival-forwarding", namespace });
  assert.equal(secret.metadata.ownerReferences?.[0]?.uid, (await read("survival")).metadata.uid);
});

test("a run keeps its secret while the master is replaced; the next run has one of the new master", async () => {
  const key = await keyOf();
  writeFileSync(file, `${next}\n${old}\n`);
  const { probes } = operators.counts;
  await until(() => operators.counts.probes > probes + 2);
  assert.deepEqual([await keyOf(), await contentOf("survival")], [key, derived([old], key)]);
  await desire("Stopped");
  await isIn("Stopped");
  assert.equal(await keyOf(), "", "nothing of a run is left");
  await desire("Running");
  await isIn("Running");
  const fresh = await keyOf();
  assert.notEqual(fresh, key);
  assert.equal(await contentOf("survival"), derived([next], fresh));
});

test("two runs of a server have different secrets, so that a former owner does not know the current one", async () => {
  const before = await contentOf("survival");
  await desire("Stopped");
  await isIn("Stopped");
  await desire("Running");
  await isIn("Running");
  assert.notEqual(await contentOf("survival"), before);
});

test("gate and lobby accept both masters while one is replaced, without a new pod", async () => {
  const { metadata, ...server } = await operators.makeServer("login");
  const labels = { "svc.internal/system-role": "login" };
  await operators.kube.patch(servers, { name: "login", namespace }, { merge: { metadata: { labels } } });
  assert.equal(metadata.name, "login");
  assert.ok(server.spec);
  await desire("Running", "login");
  await isIn("Running", "login");
  const pod = () => operators.kube.get(resources.pods, { name: "login-0", namespace });
  const { uid } = (await pod()).metadata;
  const both = systemForwardingSecrets([next, old], "login").join("\n");
  assert.equal(await contentOf("login"), `${both}\n`);
  assert.equal(await keyOf("login"), "");
  writeFileSync(file, `${next}\n`);
  const [one] = systemForwardingSecrets([next], "login");
  await until(async () => (await contentOf("login")) === `${one}\n`);
  assert.equal((await pod()).metadata.uid, uid);
});

test("an unusable master blocks the next start and leaves running servers alone", async () => {
  await desire("Stopped");
  await isIn("Stopped");
  writeFileSync(file, "short");
  await desire("Running");
  await until(async () => {
    const ready = (await read("survival")).status?.conditions?.find(({ type }) => type === "Ready");
    return ready?.reason === "ForwardingSecretUnavailable" && !ready.message.includes("short\n");
  });
  const set = await operators.kube.get(resources.statefulSets, { name: "survival", namespace });
  assert.equal(set.spec.replicas, 0);
  assert.equal((await read("login")).status?.phase, "Running");
  writeFileSync(file, next);
  await isIn("Running");
});
