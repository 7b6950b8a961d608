import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  CoreV1Api,
  KubeConfig,
  type KubernetesObject,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
} from "@kubernetes/client-node";
import { createApiServer } from "../../libs/local-cluster/src/apiserver/server.ts";

const dataDir = await mkdtemp(join(tmpdir(), "svc-client-node-"));
const server = createApiServer({
  dataFile: join(dataDir, "db"),
  tokens: [{ token: "admin-token", user: "admin", groups: ["system:masters"] }],
  podLogs: { read: async function* () {} },
});
const config = new KubeConfig();

before(async () => {
  await server.listen(0);
  config.loadFromClusterAndUser(
    {
      name: "local",
      server: server.url.replace("http:", "https:"),
      caData: Buffer.from(server.certificate).toString("base64"),
      skipTLSVerify: false,
    },
    { name: "admin", token: "admin-token" },
  );
});
after(async () => {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

test("client-node reads, writes, patches and gets refusals", async () => {
  const core = config.makeApiClient(CoreV1Api);
  const namespace = "default";
  const made = await core.createNamespacedConfigMap({
    namespace,
    body: { metadata: { name: "a" }, data: { k: "1" } },
  });
  assert.ok(made.metadata?.creationTimestamp instanceof Date);
  const list = await core.listNamespacedConfigMap({ namespace, labelSelector: "" });
  assert.equal(list.items.length, 1);
  const patched = await core.patchNamespacedConfigMap(
    { name: "a", namespace, body: { data: { k: "2" } } },
    setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch),
  );
  assert.deepEqual(patched.data, { k: "2" });
  await assert.rejects(core.readNamespacedConfigMap({ name: "none", namespace }), { code: 404 });
});

test("client-node's informer sees existing objects and changes", async () => {
  const core = config.makeApiClient(CoreV1Api);
  const namespace = "default";
  const informer = makeInformer(config, "/api/v1/namespaces/default/secrets", () =>
    core.listNamespacedSecret({ namespace }),
  );
  const named = (name: string) =>
    new Promise<void>((resolve) => {
      informer.on("add", (object: KubernetesObject) => object.metadata?.name === name && resolve());
    });
  const [early, late] = [named("early"), named("late")];
  await core.createNamespacedSecret({ namespace, body: { metadata: { name: "early" } } });
  await informer.start();
  await early;
  await core.createNamespacedSecret({ namespace, body: { metadata: { name: "late" } } });
  await late;
  await informer.stop();
});

test("client-node's watch gets events as they happen", async () => {
  const core = config.makeApiClient(CoreV1Api);
  const seen = Promise.withResolvers<string>();
  const request = await new Watch(config).watch(
    "/api/v1/namespaces/default/services",
    {},
    (type, object) => seen.resolve(`${type} ${object.metadata.name}`),
    () => {},
  );
  await core.createNamespacedService({
    namespace: "default",
    body: { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } },
  });
  assert.equal(await seen.promise, "ADDED s");
  request.abort();
});
