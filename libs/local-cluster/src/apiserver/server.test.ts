import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { PodLogs } from "../cluster-api.ts";
import { createPodLogs } from "../node/pod-logs.ts";
import { ApiStatus } from "./api-status.ts";
import { openTokens } from "./auth/tokens.ts";
import { CONFIG_MAPS, configMap, PODS, startServer } from "./testing/harness.ts";

const podBody = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "default" },
  spec: { containers: [{ name: "main", image: "example/none:1" }] },
};

test("the same port serves HTTPS with the server's certificate", async () => {
  await using harness = await startServer();
  const { port } = new URL(harness.server.url);
  const status = await new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer admin-token" };
    const options = {
      host: "127.0.0.1",
      port,
      path: "/api/v1/pods",
      ca: harness.server.certificate,
      headers,
      agent: false,
    };
    const sent = request(options, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject);
    sent.end();
  });
  assert.equal(status, 200);
  assert.equal((await harness.fetch("/api/v1/pods")).status, 200);
});

test("listen fails on a server that already listens", async () => {
  await using harness = await startServer();
  await using other = await startServer();
  const port = Number(new URL(other.server.url).port);
  await assert.rejects(harness.server.listen(port), { code: "ERR_SERVER_ALREADY_LISTEN" });
});

test("a token file is reloaded when it changes", async () => {
  await using harness = await startServer();
  const file = join(harness.folder, "tokens.json");
  await writeFile(file, JSON.stringify([{ token: "one", user: "a", groups: ["g"] }]));
  const tokens = openTokens(file);
  assert.deepEqual(tokens.find("one"), { name: "a", groups: ["g", "system:authenticated"] });
  await writeFile(file, JSON.stringify([{ token: "two", user: "system:serviceaccount:ns:bot", groups: [] }]));
  assert.deepEqual(tokens.find("two")?.groups, [
    "system:serviceaccounts",
    "system:serviceaccounts:ns",
    "system:authenticated",
  ]);
  await writeFile(file, "[{");
  assert.ok(tokens.find("two"));
  tokens.close();
});

test("an object above 1.5 MiB is 413 and not stored", async () => {
  await using harness = await startServer();
  const definitions = "/api/v1/namespaces/default/pods";
  const annotations = Object.fromEntries(
    Array.from({ length: 3 }, (_, index) => [`a${index}`, "x".repeat(80_000)]),
  );
  const env = Array.from({ length: 20 }, (_, index) => ({ name: `E${index}`, value: "x".repeat(80_000) }));
  const body = {
    ...podBody,
    metadata: { name: "big", annotations },
    spec: { containers: [{ ...podBody.spec.containers[0], env }] },
  };
  const refused = await harness.fetch(definitions, { method: "POST", body });
  assert.deepEqual(
    [refused.status, ((await refused.json()) as { reason: string }).reason],
    [413, "RequestEntityTooLarge"],
  );
  assert.equal(harness.server.api.find(PODS, "big", "default"), undefined);
});

test("the log of a container that has not started is 400 with the reason, not 500", async () => {
  const podLogs = createPodLogs(join(tmpdir(), "svc-no-pods"), new Map());
  await using harness = await startServer(podLogs);
  await harness.fetch("/api/v1/namespaces/default/pods", { method: "POST", body: podBody });
  harness.server.api.bindPod({ name: "p", namespace: "default" }, "local-1");
  const refused = await harness.fetch("/api/v1/namespaces/default/pods/p/log");
  const { message } = (await refused.json()) as { message: string };
  assert.deepEqual([refused.status, message], [400, 'container "main" in pod "p" is waiting to start']);
});

test("a client that follows a log gets lines as they are written, and its disconnect stops the reader", async () => {
  const next = Promise.withResolvers<string>();
  const stopped = Promise.withResolvers<boolean>();
  const podLogs: PodLogs = {
    read: async function* (_pod, options, signal) {
      assert.deepEqual(options, { tailLines: 5, follow: true, previous: false, timestamps: false });
      yield Buffer.from("one\n");
      yield Buffer.from(await next.promise);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      stopped.resolve(true);
    },
  };
  await using harness = await startServer(podLogs);
  harness.server.api.create(PODS, podBody);
  harness.server.api.bindPod({ name: "p", namespace: "default" }, "node");
  const client = new AbortController();
  const path = "/api/v1/namespaces/default/pods/p/log?follow=true&tailLines=5";
  const response = await harness.fetch(path, { signal: client.signal });
  const reader = response.body?.getReader();
  const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
  assert.equal(await read(), "one\n");
  next.resolve("two\n");
  assert.equal(await read(), "two\n");
  client.abort();
  assert.equal(await stopped.promise, true);
});

test("controllers see each change in order, also those that they make while handling one", async () => {
  await using harness = await startServer();
  const { api } = harness.server;
  const seen: string[] = [];
  const stopFirst = api.watch(CONFIG_MAPS, { namespace: "default" }, ({ type, object }) => {
    seen.push(`first ${type} ${object.metadata.name}`);
    if (type === "ADDED" && object.metadata.name === "a") api.create(CONFIG_MAPS, configMap("b"));
  });
  const stopSecond = api.watch(CONFIG_MAPS, { namespace: "default" }, ({ type, object }) => {
    seen.push(`second ${type} ${object.metadata.name}`);
  });
  api.create(CONFIG_MAPS, configMap("a"));
  assert.deepEqual(seen, ["first ADDED a", "second ADDED a", "first ADDED b", "second ADDED b"]);
  stopFirst();
  stopSecond();
  api.create(CONFIG_MAPS, configMap("c"));
  assert.equal(seen.length, 4);
});

test("objects that a controller reads are read-only", async () => {
  await using harness = await startServer();
  const { api } = harness.server;
  api.create(CONFIG_MAPS, configMap("a", { k: "1" }));
  const read = api.get(CONFIG_MAPS, "a", "default");
  assert.throws(() => {
    read.metadata.labels = { a: "b" };
  }, TypeError);
  assert.throws(
    () => api.get(CONFIG_MAPS, "none", "default"),
    (error) => error instanceof ApiStatus && error.code === 404,
  );
});

test("the delete of a bound pod waits for its grace period, that of an ended one does not", async () => {
  const now = new Date("2026-01-01T00:00:00Z");
  await using harness = await startServer(undefined, () => now);
  const { api } = harness.server;
  const target = { name: "p", namespace: "default" };
  api.create(PODS, podBody);
  api.bindPod(target, "node");
  api.delete(PODS, target);
  assert.equal(api.get(PODS, "p", "default").metadata.deletionTimestamp, "2026-01-01T00:00:30Z");
  api.delete(PODS, target, { gracePeriodSeconds: 5 });
  assert.equal(api.get(PODS, "p", "default").metadata.deletionGracePeriodSeconds, 5);
  api.delete(PODS, target, { gracePeriodSeconds: 60 });
  assert.equal(api.get(PODS, "p", "default").metadata.deletionGracePeriodSeconds, 5);
  api.delete(PODS, target, { gracePeriodSeconds: 0 });
  assert.equal(api.find(PODS, "p", "default"), undefined);
  api.create(PODS, podBody);
  api.bindPod(target, "node");
  api.mergePatch(PODS, { ...target, subresource: "status" }, { status: { phase: "Succeeded" } });
  api.delete(PODS, target);
  assert.equal(api.find(PODS, "p", "default"), undefined);
});

test("close ends the open watches", async () => {
  const harness = await startServer();
  const response = await harness.fetch("/api/v1/configmaps?watch=1");
  const ended = response.text().catch(() => "cut");
  await harness[Symbol.asyncDispose]();
  assert.equal(typeof (await ended), "string");
});
