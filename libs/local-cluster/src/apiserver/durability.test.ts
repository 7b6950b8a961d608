import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createApiServer } from "./server.ts";
import { CONFIG_MAPS, configMap, readEvents, SERVICES, startServer } from "./testing/harness.ts";

test("kill -9 during writes loses no acknowledged write", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-apiserver-"));
  const writer = fileURLToPath(new URL("./testing/writer.ts", import.meta.url));
  const child = spawn(process.execPath, [writer, join(folder, "db")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const acknowledged: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line);
    if (acknowledged.length === 500) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  const server = createApiServer({
    dataFile: join(folder, "db"),
    tokens: [],
    podLogs: { read: async function* () {} },
  });
  const found = new Map(server.api.list(CONFIG_MAPS).items.map(({ metadata }) => [metadata.name, metadata]));
  for (const line of acknowledged) {
    const [name = "", version, uid] = line.split(" ");
    assert.deepEqual([found.get(name)?.resourceVersion, found.get(name)?.uid], [version, uid]);
  }
  const last = Math.max(...[...found.values()].map(({ resourceVersion }) => Number(resourceVersion)));
  const next = server.api.create(CONFIG_MAPS, configMap("next"));
  assert.ok(Number(next.metadata.resourceVersion) > last);
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

test("a watch resumes after a restart from its last version", async () => {
  await using harness = await startServer();
  const first = harness.server.api.create(CONFIG_MAPS, configMap("a", { k: "1" }));
  harness.server.api.update(CONFIG_MAPS, configMap("a", { k: "2" }));
  harness.server.api.create(CONFIG_MAPS, configMap("b"));
  harness.server.api.delete(CONFIG_MAPS, { name: "b", namespace: "default" });
  await harness.reopen();
  harness.server.api.create(CONFIG_MAPS, configMap("c"));
  const path = "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1";
  const events = await readEvents(
    await harness.fetch(`${path}&resourceVersion=${first.metadata.resourceVersion}`),
  );
  assert.deepEqual(
    events.map(({ type, object }) => `${type} ${object.metadata.name}`),
    ["MODIFIED a", "ADDED b", "DELETED b", "ADDED c"],
  );
});

test("history past its limit is dropped, and a watch from a dropped version is 410, after a restart too", async () => {
  await using harness = await startServer();
  const { api } = harness.server;
  const first = api.create(CONFIG_MAPS, configMap("a"));
  const list = await harness.fetch("/api/v1/configmaps?limit=1");
  api.create(CONFIG_MAPS, configMap("b"));
  const page = (await (await harness.fetch("/api/v1/configmaps?limit=1")).json()) as {
    metadata: { continue: string };
  };
  assert.equal(list.status, 200);
  for (let index = 0; index < 1400; index += 1) api.update(CONFIG_MAPS, configMap("a", { k: String(index) }));
  const token = encodeURIComponent(page.metadata.continue);
  for (let round = 0; round < 2; round += 1) {
    const watched = `/api/v1/configmaps?watch=1&resourceVersion=${first.metadata.resourceVersion}`;
    const [event] = await readEvents(await harness.fetch(watched));
    assert.deepEqual([event?.type, event?.object.code], ["ERROR", 410]);
    const late = await harness.fetch(`/api/v1/configmaps?limit=1&continue=${token}`);
    assert.deepEqual([late.status, ((await late.json()) as { reason: string }).reason], [410, "Expired"]);
    await harness.reopen();
  }
});

test("a service keeps its address across updates and restarts, and no other service gets it", async () => {
  await using harness = await startServer();
  const service = (name: string) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { ports: [{ port: 80 }] },
  });
  const made = harness.server.api.create(SERVICES, service("a"));
  const address = String(made.spec?.["clusterIP"]);
  assert.match(address, /^127\.(9[6-9]|1[01]\d)\./);
  assert.equal(harness.server.api.update(SERVICES, service("a")).spec?.["clusterIP"], address);
  await harness.reopen();
  const addresses = Array.from({ length: 300 }, (_, index) =>
    String(harness.server.api.create(SERVICES, service(`s-${index}`)).spec?.["clusterIP"]),
  );
  assert.equal(new Set([...addresses, address]).size, 301);
});

test("custom kinds and their objects are served after a restart", async () => {
  await using harness = await startServer();
  const definitions = { group: "apiextensions.k8s.io", version: "v1", resource: "customresourcedefinitions" };
  const schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { a: { type: "string" } } } },
  };
  harness.server.api.create(definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.svc.internal" },
    spec: {
      group: "svc.internal",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  const things = { group: "svc.internal", version: "v1", resource: "things" };
  const metadata = { name: "t", namespace: "default" };
  harness.server.api.create(things, {
    apiVersion: "svc.internal/v1",
    kind: "Thing",
    metadata,
    spec: { a: "b", c: 1 },
  });
  await harness.reopen();
  assert.deepEqual(harness.server.api.get(things, "t", "default").spec, { a: "b" });
  harness.server.api.delete(definitions, { name: "things.svc.internal" });
  await harness.reopen();
  assert.equal((await harness.fetch("/apis/svc.internal/v1/things")).status, 404);
});

test("garbage left by a kill is collected at the next start", async () => {
  await using harness = await startServer();
  const owner = harness.server.api.create(CONFIG_MAPS, configMap("owner"));
  const child = configMap("child");
  const uid = owner.metadata.uid ?? "";
  child.metadata.ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  harness.server.api.create(CONFIG_MAPS, child);
  // Closing at once stops the collector before its work, as a kill would.
  harness.server.api.delete(CONFIG_MAPS, { name: "owner", namespace: "default" });
  await harness.reopen();
  await harness.server.settled();
  assert.equal(harness.server.api.find(CONFIG_MAPS, "child", "default"), undefined);
});
