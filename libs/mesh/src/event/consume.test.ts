import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { Fault } from "@svc/proto";
import { createRegistry } from "@svc/telemetry";
import type { Delivery, Mesh } from "../api.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";

// The audit stream is the one whose durable belongs to another service than its writers, so it covers all paths.
const audit = { durable: "identity-audit", stream: "AUDIT", subjects: ["svc.audit.>"] } as const;
type Entry = { action: string };
const parse = (body: unknown): Entry => {
  if (typeof body !== "object" || body === null || !("action" in body)) throw new Error("not an entry");
  return { action: String(body.action) };
};
const entry = (action: string) => ({ action, actor: "svc", source: "scheduler" });

let nats: TestNats;
const open: Mesh[] = [];

before(async () => {
  nats = await startTestNats();
});
after(() => nats?.stop());
test.afterEach(async () => {
  await Promise.all(open.splice(0).map((mesh) => mesh.drain(500)));
  await emptyStreams();
});

async function mesh(service: "identity" | "storage" | "operator", own = nats): Promise<Mesh> {
  const connected = await own.connect(service);
  open.push(connected);
  return connected;
}

async function asAdministrator<T>(work: (connection: NatsConnection) => Promise<T>, own = nats): Promise<T> {
  const connection = await connect({
    servers: own.url,
    user: "migrate",
    pass: own.passwords["migrate"] ?? "",
    inboxPrefix: "_INBOX_migrate",
  });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

async function emptyStreams(): Promise<void> {
  await asAdministrator(async (connection) => {
    await connection.request("$JS.API.CONSUMER.DELETE.AUDIT.identity-audit");
    await nats.migrate();
    await connection.request("$JS.API.STREAM.PURGE.AUDIT");
    await connection.request("$JS.API.STREAM.PURGE.IDENTITY");
  });
}

async function pendingAcks(own = nats): Promise<{ num_ack_pending: number; num_pending: number }> {
  return asAdministrator(async (connection) => {
    const reply = await connection.request("$JS.API.CONSUMER.INFO.AUDIT.identity-audit");
    return reply.json<{ num_ack_pending: number; num_pending: number }>();
  }, own);
}

test("each message is handled once with its id, time and attempt, and acknowledged", async () => {
  const identity = await mesh("identity");
  const storage = await mesh("storage");
  const seen: Delivery<Entry>[] = [];
  await identity.consume({ ...audit, parse, handle: async (delivery) => void seen.push(delivery) });
  storage.audit({ ...entry("backup.create"), id: "a-1" });
  await until(() => seen.length === 1);
  const [first] = seen;
  assert.equal(first?.data.action, "backup.create");
  assert.equal(first?.subject, "svc.audit.storage");
  assert.equal(first?.id, "a-1");
  assert.equal(first?.attempt, 1);
  assert.ok(Math.abs(Date.now() - (first?.at.getTime() ?? 0)) < 10_000);
  await until(async () => (await pendingAcks()).num_ack_pending === 0);
});

test("repeated publishes of one id are stored once", async () => {
  const identity = await mesh("identity");
  const body = new TextEncoder().encode("{}");
  const message = { id: "same", subject: "svc.evt.identity.user.created.x", body };
  await identity.publish([message, message]);
  await identity.publish([message]);
  const messages = await asAdministrator(async (connection) => {
    const info = await connection.request("$JS.API.STREAM.INFO.IDENTITY");
    return info.json<{ state: { messages: number } }>().state.messages;
  });
  assert.equal(messages, 1);
});

test("a thousand messages are stored in order", async () => {
  const identity = await mesh("identity");
  const outgoing = Array.from({ length: 1_000 }, (_, n) => ({
    id: `order-${n}`,
    subject: `svc.evt.identity.user.created.${n}`,
    body: new TextEncoder().encode(JSON.stringify({ n })),
  }));
  await identity.publish(outgoing);
  const last = await asAdministrator(async (connection) => {
    const reply = await connection.request(
      "$JS.API.STREAM.MSG.GET.IDENTITY",
      JSON.stringify({ last_by_subj: ">" }),
    );
    return reply.json<{ message: { subject: string } }>().message.subject;
  });
  assert.equal(last, "svc.evt.identity.user.created.999");
});

test("two replicas share a durable and nothing is handled twice", async () => {
  const counts = new Map<string, number>();
  for (let replica = 0; replica < 2; replica++) {
    const identity = await mesh("identity");
    const handle = async ({ id }: Delivery<Entry>) => void counts.set(id, (counts.get(id) ?? 0) + 1);
    await identity.consume({ ...audit, parse, handle, maxInFlight: 8 });
  }
  const storage = await mesh("storage");
  for (let n = 0; n < 300; n++) storage.audit({ ...entry("x"), id: `shared-${n}` });
  await until(() => counts.size === 300);
  assert.ok([...counts.values()].every((count) => count === 1));
});

test("no more than the limit are handled at once", async () => {
  const identity = await mesh("identity");
  const storage = await mesh("storage");
  let inside = 0;
  let most = 0;
  let done = 0;
  const handle = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside -= 1;
    done += 1;
  };
  await identity.consume({ ...audit, parse, handle, maxInFlight: 4 });
  for (let n = 0; n < 60; n++) storage.audit({ ...entry("x"), id: `slow-${n}` });
  await until(() => done === 60);
  assert.equal(most, 4);
});

test("a temporary fault redelivers the message later", async () => {
  const identity = await mesh("identity");
  const storage = await mesh("storage");
  const attempts: number[] = [];
  await identity.consume({
    ...audit,
    parse,
    handle: async ({ attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Fault("unavailable");
    },
  });
  storage.audit(entry("again"));
  await until(() => attempts.length === 2);
  assert.deepEqual(attempts, [1, 2]);
  await until(async () => (await pendingAcks()).num_ack_pending === 0);
});

test("a message that cannot be parsed, one that fails for good and one out of attempts become dead letters", async () => {
  const registry = createRegistry("identity", "0.0.1");
  const identity = await nats.connect("identity", { registry });
  open.push(identity);
  const handled: string[] = [];
  await identity.consume({
    ...audit,
    parse,
    maxAttempts: 1,
    handle: async ({ data }) => {
      handled.push(data.action);
      if (data.action === "refuse")
        throw new Fault("not_found", { message: "There is no such user.\r\nX: y" });
      if (data.action === "wait") throw new Fault("unavailable");
    },
  });
  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const storage = await mesh("storage");
  await storage.publish([
    { id: "d-1", subject: "svc.audit.storage", body: encode("nonsense") },
    { id: "d-2", subject: "svc.audit.storage", body: encode({ action: "wait" }) },
    { id: "d-3", subject: "svc.audit.storage", body: encode({ action: "refuse" }) },
  ]);
  const operator = await mesh("operator");
  await until(async () => (await operator.deadLetters("identity"))[0]?.count === 3);
  const [letters] = await operator.deadLetters("identity");
  assert.equal(letters?.durable, "identity-audit");
  assert.equal(letters?.newest.subject, "svc.audit.storage");
  assert.ok(letters?.newest.error);
  assert.ok(!Number.isNaN(Date.parse(letters?.newest.at ?? "")));
  assert.deepEqual(handled.sort(), ["refuse", "wait"]);
  assert.deepEqual(
    await pendingAcks().then(({ num_ack_pending, num_pending }) => num_ack_pending + num_pending),
    0,
  );
  assert.match(await registry.metrics(), /svc_mesh_dead_letters_total{durable="identity-audit"} 3/);
  assert.deepEqual(await operator.deadLetters("builds"), []);
});

test("drain finishes messages in progress and leaves the rest to another replica at once", async () => {
  const first = await mesh("identity");
  const storage = await mesh("storage");
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const byFirst: string[] = [];
  await first.consume({
    ...audit,
    parse,
    maxInFlight: 2,
    handle: async ({ id }) => {
      byFirst.push(id);
      await gate;
    },
  });
  for (let n = 0; n < 10; n++) storage.audit({ ...entry("x"), id: `drain-${n}` });
  await until(() => byFirst.length === 2);
  const drained = first.drain();
  const second = await mesh("identity");
  const bySecond: string[] = [];
  await second.consume({ ...audit, parse, handle: async ({ id }) => void bySecond.push(id) });
  await until(() => bySecond.length === 8);
  release();
  await drained;
  assert.equal(new Set([...byFirst, ...bySecond]).size, 10);
});

test("a consumer waits for a stream that is created later and continues after NATS was killed", async () => {
  const own = await startTestNats();
  const identity = await own.connect("identity");
  const seen = new Set<string>();
  await asAdministrator(async (connection) => {
    await connection.request("$JS.API.STREAM.DELETE.AUDIT");
  }, own);
  await identity.consume({ ...audit, parse, handle: async ({ id }) => void seen.add(id) });
  await assert.rejects(own.connect("identity"), /no stream AUDIT: run `svc migrate up`/);
  assert.deepEqual(await own.migrate(), ["stream AUDIT: made", "consumer identity-audit of AUDIT: made"]);
  assert.deepEqual(await own.migrate(), []);
  const storage = await own.connect("storage");
  storage.audit({ ...entry("x"), id: "one" });
  await until(() => seen.has("one"));
  await own.kill();
  await own.start();
  await until(() => storage.status().connected && identity.status().connected);
  storage.audit({ ...entry("x"), id: "two" });
  await until(() => seen.has("two"));
  await Promise.all([identity, storage].map((each) => each.drain(500)));
  await own.stop();
});

test("publishing without NATS is unavailable, and a lost audit entry is counted and never thrown", async () => {
  const own = await startTestNats();
  const registry = createRegistry("storage", "0.0.1");
  const storage = await own.connect("storage", { registry });
  await own.kill();
  await until(() => !storage.status().connected);
  const body = new TextEncoder().encode("{}");
  await assert.rejects(
    storage.publish([{ id: "x", subject: "svc.evt.storage.backup.created.x", body }]),
    (error) => (error as { fault: string }).fault === "unavailable",
  );
  storage.audit(entry("lost"));
  storage.audit({ action: "malformed" });
  await until(async () => /svc_audit_write_failures_total 2/.test(await registry.metrics()));
  await storage.drain(100);
  await own.stop();
});

test("a new version updates streams with other settings", async () => {
  await asAdministrator(async (connection) => {
    const info = await connection
      .request("$JS.API.STREAM.INFO.STORAGE")
      .then((reply) => reply.json<{ error?: object; config: object }>());
    const config = info.error
      ? { name: "STORAGE", subjects: ["svc.evt.storage.>"], storage: "file" }
      : info.config;
    const verb = info.error ? "CREATE" : "UPDATE";
    await connection.request(
      `$JS.API.STREAM.${verb}.STORAGE`,
      JSON.stringify({ ...config, max_age: 3_600e9 }),
    );
  });
  assert.deepEqual(await nats.migrate(), ["stream STORAGE: changed"]);
  const config = await asAdministrator(async (connection) => {
    const reply = await connection.request("$JS.API.STREAM.INFO.STORAGE");
    return reply.json<{
      config: { max_age: number; max_bytes: number; subjects: string[]; discard: string };
    }>().config;
  });
  assert.equal(config.max_age, 7 * 86_400e9);
  assert.equal(config.max_bytes, 268_435_456);
  assert.equal(config.discard, "old");
  assert.deepEqual(config.subjects, ["svc.evt.storage.>", "svc.dead.storage.>"]);
});
