// A long-running cluster keeps in memory its objects and a limited part of their history.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { KubeObject, ResourceRef } from "../cluster-api.ts";
import { mostEvents } from "./event-limit.ts";
import { CONFIG_MAPS, configMap, type Harness, readEvents, startServer } from "./testing/harness.ts";

const EVENTS: ResourceRef = { group: "", version: "v1", resource: "events" };
const SECRETS: ResourceRef = { group: "", version: "v1", resource: "secrets" };

const secret = (name: string, text: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "default" },
  stringData: { text },
});

/** Simulates a busy cluster: some objects are updated again and again, others are created and deleted. */
async function work({ server: { api } }: Harness, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    api.update(CONFIG_MAPS, configMap("small", { k: String(round) }));
    // As large as the Job of a file write.
    if (round % 10 === 0)
      api.update(CONFIG_MAPS, configMap("large", { k: `${round} ${"x".repeat(300_000)}` }));
    api.create(SECRETS, secret(`job-${round}`, "y".repeat(2_000)));
    api.delete(SECRETS, { name: `job-${round}`, namespace: "default" });
    if (round % 50 === 0) await nextTurn();
  }
  await nextTurn();
}

test("history is limited in entries and bytes, and stored as bytes, not values: ten times the writes use the same memory", async () => {
  await using harness = await startServer();
  const { api } = harness.server;
  api.create(CONFIG_MAPS, configMap("small"));
  api.create(CONFIG_MAPS, configMap("large"));
  await work(harness, 250);
  const first = harness.server.retained();
  await work(harness, 2_500);
  const second = harness.server.retained();
  for (const { changes, bytes, held } of [first, second]) {
    assert.ok(changes <= 4 * 1_280, `${changes} changes`);
    assert.ok(bytes <= 3 * (2.5 * (1 << 20) + 400_000), `${bytes} bytes`);
    assert.equal(held, 0);
  }
  assert.equal(second.objects, first.objects);
});

test("a watch from an old version gets the history since then, also with a selector", async () => {
  await using harness = await startServer();
  const { api } = harness.server;
  const labelled = (app: string): KubeObject => {
    const object = configMap("a");
    return { ...object, metadata: { ...object.metadata, labels: { app } } };
  };
  const first = api.create(CONFIG_MAPS, labelled("one"));
  api.update(CONFIG_MAPS, labelled("two"));
  api.delete(CONFIG_MAPS, { name: "a", namespace: "default" });
  await nextTurn();
  assert.equal(harness.server.retained().held, 0);
  const from = `watch=1&timeoutSeconds=1&resourceVersion=${first.metadata.resourceVersion}`;
  const seen = async (selector: string) =>
    (await readEvents(await harness.fetch(`/api/v1/configmaps?${from}${selector}`))).map(
      ({ type, object }) => `${type} ${object.metadata.labels?.["app"]}`,
    );
  assert.deepEqual(await seen(""), ["MODIFIED two", "DELETED two"]);
  assert.deepEqual(await seen("&labelSelector=app%3Done"), ["DELETED one"]);
});

const happened = (name: string, at: string): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: "default" },
    involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: "default" },
    reason: "Started",
    lastTimestamp: at,
  }) as KubeObject;

test("events are removed an hour after they were last seen, and the oldest ones when there are too many", async () => {
  let now = Date.parse("2026-01-01T00:00:00Z");
  await using harness = await startServer(undefined, () => new Date(now));
  const { api } = harness.server;
  const names = () => api.list(EVENTS).items.map(({ metadata }) => metadata.name);
  const stamp = () => `${new Date(now).toISOString().slice(0, 19)}Z`;
  for (let index = 0; index < 3 * mostEvents; index += 1) api.create(EVENTS, happened(`e-${index}`, stamp()));
  assert.ok(names().length <= mostEvents, `${names().length} events`);
  assert.ok(names().includes(`e-${3 * mostEvents - 1}`));
  assert.ok(!names().includes("e-0"));
  now += 40 * 60_000;
  api.update(EVENTS, happened(`e-${3 * mostEvents - 1}`, stamp()));
  now += 40 * 60_000;
  api.create(EVENTS, happened("last", stamp()));
  assert.deepEqual(names().sort(), [`e-${3 * mostEvents - 1}`, "last"]);
});
