import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { inboxPrefix, type ServerInfo, type ServiceName, servers, viewUseSubject } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import type { Mesh, ViewMirror } from "../api.ts";
import { createConnection } from "../connection/nats-connection.ts";
import type { Core } from "../core.ts";
import { metaSubject } from "../stream/key-value.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";
import { createFreshness, startMarking } from "./marking.ts";
import { writeView } from "./writer.ts";

const view = servers.servers;
let nats: TestNats;
let lifecycle: Mesh;
let gateway: Mesh;

before(async () => {
  nats = await startTestNats();
  lifecycle = await nats.connect("lifecycle");
  gateway = await nats.connect("gateway-internal");
});
after(async () => {
  await gateway?.drain();
  await lifecycle?.drain();
  await nats?.stop();
});
test.afterEach(async () => {
  await deleteBucket();
  await nats.migrate();
});

async function coreOf(service: ServiceName): Promise<Core> {
  const client = await connect({
    servers: nats.url,
    user: service,
    pass: nats.passwords[service] ?? "",
    inboxPrefix: inboxPrefix(service),
  });
  return { connection: createConnection(client, createLogger("test", "silent"), service), service } as Core;
}

function info(name: string, playersOnline = 0): ServerInfo {
  return {
    name,
    subdomain: name,
    phase: "Running",
    ready: true,
    playersOnline,
    playersMax: 20,
    idleStopSeconds: 600,
    image: "registry.example/minecraft:1",
    memory: "2Gi",
    desiredState: "Running",
  };
}

const fleet = (count: number) =>
  new Map(
    Array.from({ length: count }, (_, n) => [`server-${String(n).padStart(5, "0")}`, info(`server-${n}`)]),
  );

async function deleteBucket(own = nats): Promise<void> {
  const connection = await connect({
    servers: own.url,
    user: "migrate",
    pass: own.passwords["migrate"] ?? "",
    inboxPrefix: "_INBOX_migrate",
  });
  await connection.request("$JS.API.STREAM.DELETE.KV_servers");
  await connection.close();
}

function read(mirror: ViewMirror, name: string): ServerInfo | undefined {
  const bytes = mirror.get(name);
  return bytes && JSON.parse(Buffer.from(bytes).toString());
}

test("a mirror is ready after the owner's first replace and follows every change in key order", async () => {
  const mirror = gateway.mirrorView(view);
  assert.equal(mirror.ready, false);
  const writer = await lifecycle.writeView(view);
  await writer.put("alpha", info("alpha"));
  assert.equal(mirror.ready, false);
  const first = await writer.replace(
    new Map([
      ["beta", info("beta")],
      ["alpha", info("alpha")],
    ]),
  );
  assert.deepEqual(first, { written: 1, removed: 0 });
  await until(() => mirror.ready && mirror.size === 2);
  const names = () => mirror.keys().map((key) => read(mirror, key)?.name);
  assert.deepEqual(names(), ["alpha", "beta"]);
  assert.ok(mirror.ageMs() < 5_000);
  const version = mirror.version;
  await writer.put("alpha", info("alpha", 3));
  await until(() => read(mirror, "alpha")?.playersOnline === 3);
  assert.ok(mirror.version > version);
  await writer.remove("beta");
  await until(() => mirror.size === 1);
  assert.equal(mirror.get("beta"), undefined);
  assert.deepEqual(names(), ["alpha"]);
  await mirror.close();
  await writer.close();
});

test("a value that did not change is not written again", async () => {
  const writer = await lifecycle.writeView(view);
  await writer.replace(fleet(3));
  assert.deepEqual(await writer.replace(fleet(3)), { written: 0, removed: 0 });
  assert.deepEqual(await writer.replace(fleet(2)), { written: 0, removed: 1 });
  await writer.close();
  const other = await lifecycle.writeView(view);
  assert.deepEqual(await other.replace(fleet(2)), { written: 0, removed: 0 });
  await other.close();
});

test("a view that is replaced without a change is marked no more often than its rhythm", async () => {
  const owner = await coreOf("lifecycle");
  const reader = await coreOf("gateway-internal");
  let marks = 0;
  const heard = reader.connection.subscribe(metaSubject(view), () => {
    marks += 1;
  });
  await reader.connection.client.flush();
  const writer = await writeView(owner, { ...view, markEveryMs: 3_600_000 });
  const first = new Map([["a", info("a")]]);
  await writer.replace(first);
  for (let number = 0; number < 5; number += 1)
    assert.deepEqual(await writer.replace(first), { written: 0, removed: 0 });
  await writer.replace(new Map([["a", info("a", 1)]]));
  await until(() => marks >= 2);
  await writer.replace(new Map([["a", info("a", 1)]]));
  await reader.connection.client.flush();
  assert.equal(marks, 2);
  heard.unsubscribe();
  await writer.close();
  await Promise.all([owner.connection.close(), reader.connection.close()]);
});

test("an invalid value and a key that is not subject-safe are rejected", async () => {
  const writer = await lifecycle.writeView(view);
  await assert.rejects(writer.put("a", { ...info("a"), phase: "Odd" } as unknown as ServerInfo));
  await assert.rejects(writer.put("a.b", info("a")), /not subject-safe/);
  await assert.rejects(writer.put("_meta", info("a")), /not subject-safe/);
  await writer.close();
});

test("10,000 servers are written, mirrored and read back completely", async (context) => {
  const writer = await lifecycle.writeView(view);
  const mirror = gateway.mirrorView(view);
  const all = fleet(10_000);
  const startedAt = Date.now();
  assert.deepEqual(await writer.replace(all), { written: 10_000, removed: 0 });
  const writtenMs = Date.now() - startedAt;
  await until(() => mirror.size === 10_000);
  context.diagnostic(`written in ${writtenMs} ms, mirrored after ${Date.now() - startedAt} ms`);
  const late = gateway.mirrorView(view);
  const openedAt = Date.now();
  await until(() => late.ready);
  context.diagnostic(`a late mirror is ready after ${Date.now() - openedAt} ms`);
  assert.equal(late.size, 10_000);
  assert.equal(late.keys().length, 10_000);
  await Promise.all([writer.close(), mirror.close(), late.close()]);
});

test("a mirror keeps the complete copy while its bucket is deleted and created again", async () => {
  const writer = await lifecycle.writeView(view);
  await writer.replace(fleet(200));
  const mirror = gateway.mirrorView(view);
  await until(() => mirror.ready);
  await deleteBucket();
  const sizes = new Set<number>();
  let isWatching = true;
  const watching = (async () => {
    while (isWatching) {
      sizes.add(mirror.size);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await assert.rejects(lifecycle.writeView(view), /no stream KV_servers: run `svc migrate up`/);
  await nats.migrate();
  const again = await lifecycle.writeView(view);
  await again.replace(fleet(201));
  await until(() => mirror.size === 201, 15_000);
  isWatching = false;
  await watching;
  // The watcher may not have run since the last change.
  sizes.add(mirror.size);
  assert.deepEqual([...sizes].sort(), [200, 201]);
  await Promise.all([writer.close(), again.close(), mirror.close()]);
});

test("no mirror is complete with less than the owner has, however often the bucket is lost", async () => {
  const marked = { ...view, markEveryMs: 50 };
  const earlier = await lifecycle.writeView(view);
  await earlier.replace(fleet(50));
  await earlier.close();
  // This one finds everything in place: what it vouches for was written by another.
  const writer = await lifecycle.writeView(marked);
  assert.deepEqual(await writer.replace(fleet(50)), { written: 0, removed: 0 });
  const lasting = gateway.mirrorView(marked);
  await until(() => lasting.ready);
  for (let expected = 51; expected <= 57; expected += 1) {
    await deleteBucket();
    await nats.migrate();
    const late = gateway.mirrorView(marked);
    await Promise.all([writer.put(`late-${expected}`, info("late")), until(() => late.ready, 15_000)]);
    assert.equal(late.size, expected);
    assert.ok(lasting.size >= 50);
    await late.close();
  }
  await until(() => lasting.size === 57 && lasting.isFresh());
  await Promise.all([writer.close(), lasting.close()]);
});

test("mirrors and writers continue after NATS was killed", async () => {
  const own = await startTestNats();
  const owner = await own.connect("lifecycle");
  const reader = await own.connect("gateway-internal");
  const writer = await owner.writeView(view);
  await writer.replace(fleet(100));
  const mirror = reader.mirrorView(view);
  await until(() => mirror.ready);
  await own.kill();
  await until(() => !owner.status().connected && !reader.status().connected);
  assert.equal(mirror.size, 100);
  await assert.rejects(
    writer.put("late", info("late")),
    (error) => (error as { fault: string }).fault === "unavailable",
  );
  await own.start();
  await until(() => mirror.get("late") !== undefined, 20_000);
  await writer.put("later", info("later"));
  await until(() => mirror.size === 102);
  await Promise.all([owner.drain(), reader.drain()]);
  await own.stop();
});

test("a closed writer does not overwrite its successor", async () => {
  const first = await lifecycle.writeView(view);
  await first.replace(new Map([["a", info("a", 1)]]));
  await first.close();
  const second = await lifecycle.writeView(view);
  await second.replace(new Map([["a", info("a", 2)]]));
  const mirror = gateway.mirrorView(view);
  await until(() => mirror.ready);
  assert.equal(read(mirror, "a")?.playersOnline, 2);
  await Promise.all([second.close(), mirror.close()]);
});

test("a view in use is marked often, another seldom and once whenever its use begins", async () => {
  const owner = await coreOf("lifecycle");
  const reader = await coreOf("gateway-internal");
  const brisk = { ...view, markEveryMs: 20 };
  let marks = 0;
  const mark = () => {
    marks += 1;
  };
  const busy = startMarking(owner, { view: brisk, mark });
  await until(() => marks >= 3);
  busy.close();
  marks = 0;
  const restingMs = 3_600_000;
  const resting = startMarking(owner, { view: brisk, mark, usedForMs: 0, restingMs });
  for (const expected of [1, 2, 3]) {
    await owner.connection.client.flush();
    // What NATS answers to that subject is nobody's use.
    const answer = { reply: viewUseSubject(brisk) };
    reader.connection.publish("$JS.API.STREAM.INFO.KV_servers", new Uint8Array(0), answer);
    const isFresh = createFreshness(reader, brisk);
    assert.equal(isFresh(undefined), false);
    assert.equal(isFresh(performance.now()), true);
    await until(() => marks > 0 && marks >= expected);
    assert.equal(marks, expected);
  }
  resting.close();
  await Promise.all([owner.connection.close(), reader.connection.close()]);
});
