import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, headers as msgHeaders } from "@nats-io/transport-node";
import { bucket, type Fault } from "@svc/proto";
import { z } from "zod";
import type { BucketStore, Mesh } from "../api.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";

const tickets = bucket({
  name: "test-tickets",
  owner: "storage",
  value: z.strictObject({ n: z.number() }),
  ttlMs: 60_000,
  summary: "Tickets of a test.",
});
type Ticket = { n: number };

let nats: TestNats;
let one: Mesh;
let other: Mesh;
let store: BucketStore<Ticket>;
let second: BucketStore<Ticket>;

before(async () => {
  nats = await startTestNats({ buckets: [tickets] });
  [one, other] = await Promise.all([nats.connect("storage"), nats.connect("storage")]);
  store = one.bucket(tickets);
  second = other.bucket(tickets);
});
after(async () => {
  await Promise.all([one?.drain(500), other?.drain(500)]);
  await nats?.stop();
});

const isUnavailable = (error: unknown) => (error as Fault).fault === "unavailable";

test("an entry that one replica creates is read by the other, with its revision", async () => {
  const revision = await store.create("a", { n: 1 });
  assert.deepEqual(await second.get("a"), { key: "a", value: { n: 1 }, revision });
});

test("a key that nobody wrote is not found", async () => {
  assert.equal(await store.get("nobody"), undefined);
});

test("of many concurrent creates of one key exactly one succeeds", async () => {
  const tries = Array.from({ length: 20 }, (_, n) => (n % 2 ? store : second).create("race", { n }));
  const revisions = (await Promise.all(tries)).filter((revision) => revision !== undefined);
  assert.equal(revisions.length, 1);
  assert.equal((await store.get("race"))?.revision, revisions[0]);
});

test("of many updates of one revision exactly one succeeds, and its value stays", async () => {
  const revision = (await store.create("cas", { n: 0 })) ?? 0;
  const tries = Array.from({ length: 20 }, (_, n) =>
    (n % 2 ? store : second).update("cas", { n: n + 1 }, revision).then((won) => ({ won, n: n + 1 })),
  );
  const winners = (await Promise.all(tries)).filter(({ won }) => won !== undefined);
  assert.equal(winners.length, 1);
  const entry = await second.get("cas");
  assert.deepEqual(entry, { key: "cas", value: { n: winners[0]?.n }, revision: winners[0]?.won });
});

test("two writers that count by reading and updating lose no increment", async () => {
  await store.create("count", { n: 0 });
  const count = async (by: BucketStore<Ticket>) => {
    for (let steps = 0; steps < 50; ) {
      const entry = await by.get("count");
      assert.ok(entry);
      if (await by.update("count", { n: entry.value.n + 1 }, entry.revision)) steps++;
    }
  };
  await Promise.all([count(store), count(second)]);
  assert.equal((await store.get("count"))?.value.n, 100);
});

test("a deleted key is gone, an update of it is rejected, and it can be created again", async () => {
  const revision = (await store.create("gone", { n: 1 })) ?? 0;
  assert.equal(await second.delete("gone", revision + 1_000), false);
  assert.equal(await second.delete("gone", revision), true);
  assert.equal(await store.get("gone"), undefined);
  assert.equal(await store.update("gone", { n: 2 }, revision), undefined);
  assert.ok(await store.create("gone", { n: 3 }));
  assert.equal(await store.create("gone", { n: 4 }), undefined);
  assert.equal((await second.get("gone"))?.value.n, 3);
});

test("of many deletes of one revision exactly one succeeds", async () => {
  const revision = (await store.create("ticket", { n: 1 })) ?? 0;
  const tries = Array.from({ length: 10 }, (_, n) => (n % 2 ? store : second).delete("ticket", revision));
  assert.equal((await Promise.all(tries)).filter(Boolean).length, 1);
});

test("of many creates of a deleted key exactly one succeeds", async () => {
  await store.create("again", { n: 0 });
  await store.delete("again");
  const tries = Array.from({ length: 10 }, (_, n) => (n % 2 ? store : second).create("again", { n }));
  assert.equal((await Promise.all(tries)).filter((revision) => revision !== undefined).length, 1);
});

test("an entry expires after its lifetime, and its key is free again", async () => {
  const gone: string[] = [];
  const watching = second.watch({ onEntry: () => {}, onGone: (key) => gone.push(key) });
  const before = Date.now();
  await store.create("short", { n: 1 }, { ttlMs: 1_000 });
  await store.create("long", { n: 1 });
  await until(async () => (await store.get("short")) === undefined);
  assert.ok(Date.now() - before >= 900, "it went before its time");
  await until(() => gone.includes("short"));
  assert.ok(await store.get("long"));
  assert.ok(await store.create("short", { n: 2 }));
  await watching.close();
});

test("a write renews the lifetime of an entry", async () => {
  const revision = (await store.create("renewed", { n: 1 }, { ttlMs: 1_000 })) ?? 0;
  await store.update("renewed", { n: 2 }, revision);
  await store.create("clock", { n: 1 }, { ttlMs: 2_000 });
  await until(async () => (await store.get("clock")) === undefined);
  assert.equal((await store.get("renewed"))?.value.n, 2);
});

test("a lifetime below a second is rejected", async () => {
  await assert.rejects(store.create("x", { n: 1 }, { ttlMs: 999 }), /too short/);
});

test("the keys are those of live entries, in order", async () => {
  for (const { key } of [{ key: "keys/b" }, { key: "keys/a" }, { key: "keys/c" }]) {
    await store.create(key, { n: 1 });
  }
  await store.delete("keys/c");
  const keys = (await second.keys()).filter((key) => key.startsWith("keys/"));
  assert.deepEqual(keys, ["keys/a", "keys/b"]);
});

test("a key that could escape its bucket is rejected", async () => {
  for (const key of ["", "a.b", "a b", "*", ">", "a.>", "\r\n", "ä"]) {
    await assert.rejects(store.get(key), /not subject-safe/, key);
    await assert.rejects(store.create(key, { n: 1 }), /not subject-safe/, key);
    await assert.rejects(store.delete(key), /not subject-safe/, key);
  }
});

test("an invalid value is neither written nor read", async () => {
  await assert.rejects(store.create("odd", { n: "1" } as never), { name: "ZodError" });
  assert.equal(await store.get("odd"), undefined);
  const { url: servers, passwords } = nats;
  const raw = await connect({ servers, user: "storage", pass: passwords["storage"] ?? "" });
  raw.publish("$KV.test-tickets.foreign", '{"n":1}');
  await raw.flush();
  assert.equal(await store.get("foreign"), undefined, "no publisher put it there");
  assert.equal(await store.create("foreign", { n: 2 }), undefined, "what holds the place is not known");
  const headers = msgHeaders();
  headers.set("Svc-Publisher", "storage");
  raw.publish("$KV.test-tickets.foreign", '{"n":"x"}', { headers });
  await raw.flush();
  await raw.close();
  await assert.rejects(store.get("foreign"), /has an invalid value under foreign/);
  await store.delete("foreign");
});

test("a watcher gets all entries and then every change, without invalid values", async () => {
  await store.create("w1", { n: 1 });
  const received = new Map<string, number>();
  let isCaughtUp = false;
  const watching = second.watch({
    onEntry: ({ key, value }) => received.set(key, value.n),
    onGone: (key) => received.delete(key),
    onCaughtUp: () => {
      isCaughtUp = true;
    },
  });
  await until(() => isCaughtUp);
  assert.equal(received.get("w1"), 1);
  const revision = (await store.create("w2", { n: 1 })) ?? 0;
  await store.update("w2", { n: 2 }, revision);
  await store.delete("w1");
  await until(() => received.get("w2") === 2 && !received.has("w1"));
  await watching.close();
});

test("a service that does not own a bucket cannot open it, nor access it with its own connection", async () => {
  const mesh = await nats.connect("lifecycle");
  assert.throws(() => mesh.bucket(tickets), /belongs to storage/);
  await mesh.drain(500);
  const { url: servers, passwords } = nats;
  const user = "gateway-internal";
  const thief = await connect({
    ...{ servers, user, pass: passwords[user] ?? "", inboxPrefix: "_INBOX_gateway_internal" },
  });
  for (const subject of [
    "$KV.test-tickets.a",
    "$JS.API.DIRECT.GET.KV_test-tickets.$KV.test-tickets.a",
    "$JS.API.STREAM.MSG.GET.KV_test-tickets",
  ]) {
    await assert.rejects(thief.request(subject, "x", { timeout: 2_000 }), /permissions violation/i, subject);
  }
  await thief.close();
  assert.equal((await store.get("a"))?.value.n, 1);
});

test("without NATS everything is unavailable; afterwards the entries are as before", async () => {
  const revision = (await store.create("kept", { n: 1 })) ?? 0;
  const received = new Set<string>();
  const watching = second.watch({
    onEntry: ({ key }) => received.add(key),
    onGone: (key) => received.delete(key),
  });
  await until(() => received.has("kept"));
  await nats.kill();
  await until(() => !one.status().connected && !other.status().connected);
  await assert.rejects(store.get("kept"), isUnavailable);
  await assert.rejects(store.create("new", { n: 1 }), isUnavailable);
  await assert.rejects(store.update("kept", { n: 2 }, revision), isUnavailable);
  await assert.rejects(store.delete("kept", revision), isUnavailable);
  await assert.rejects(store.keys(), isUnavailable);
  await nats.start();
  await until(() => one.status().connected && other.status().connected);
  await until(async () => (await store.get("kept").catch(() => undefined))?.revision === revision);
  assert.ok(await second.update("kept", { n: 2 }, revision));
  assert.ok(await store.create("after", { n: 1 }));
  await until(() => received.has("after"));
  await watching.close();
});
