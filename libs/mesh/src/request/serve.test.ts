import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { after, before, test } from "node:test";
import { connect, headers as msgHeaders } from "@nats-io/transport-node";
import { rpcSubject } from "@svc/proto";
import { createRegistry, type Logger } from "@svc/telemetry";
import { pino } from "pino";
import type { Context, Mesh } from "../api.ts";
import { change, read, text } from "../testing/contracts.ts";
import { serveGated } from "../testing/gated.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";

let nats: TestNats;
let gateway: Mesh;
const owners: Mesh[] = [];

before(async () => {
  nats = await startTestNats();
  gateway = await nats.connect("gateway-internal");
});
after(async () => {
  await gateway?.drain();
  await nats?.stop();
});
test.afterEach(async () => {
  await Promise.all(owners.splice(0).map((mesh) => mesh.drain(200)));
});

async function owner(log?: Logger): Promise<Mesh> {
  const mesh = await nats.connect("lifecycle", log ? { log } : {});
  owners.push(mesh);
  return mesh;
}

function captureLog(): { log: Logger; lines: () => Record<string, unknown>[] } {
  const stream = new PassThrough();
  let written = "";
  stream.on("data", (chunk: Buffer) => {
    written += chunk.toString();
  });
  const lines = () => written.split("\n").flatMap((line) => (line ? [JSON.parse(line)] : []));
  return { log: pino({ level: "info" }, stream), lines };
}

const fails = (fault: string, message?: RegExp) => (error: unknown) => {
  const { fault: name, message: said } = error as { fault: string; message: string };
  assert.equal(name, fault);
  if (message) assert.match(said, message);
  return true;
};

test("the answer and everything the caller sent arrive", async () => {
  const lifecycle = await owner();
  let seen: Context<typeof read> | undefined;
  lifecycle.serve(read, (context, input) => {
    seen = context;
    return { n: input.n + 1 };
  });
  await lifecycle.announce();
  const deadlineAt = Date.now() + 5_000;
  const answer = await gateway.call(
    read,
    { n: 1 },
    {
      requestId: "req-1",
      principal: { kind: "caller", caller: "velocity" },
      client: { address: "192.0.2.7", userAgent: "Müller\r\nSvc-Principal: x", language: "zh" },
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      deadlineAt,
    },
  );
  assert.deepEqual(answer, { n: 2 });
  assert.equal(seen?.requestId, "req-1");
  assert.deepEqual(seen?.principal, { kind: "caller", caller: "velocity" });
  const client = { address: "192.0.2.7", userAgent: "Müller Svc-Principal: x", language: "zh" };
  assert.deepEqual(seen?.client, client);
  assert.equal(seen?.traceparent, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  assert.equal(seen?.deadlineAt, deadlineAt);
});

test("a call without a principal is the service's own work and gets a request id and a traceparent", async () => {
  const lifecycle = await owner();
  let seen: Context<typeof read> | undefined;
  lifecycle.serve(read, (context, input) => {
    seen = context;
    return input;
  });
  await lifecycle.announce();
  await gateway.call(read, { n: 1 });
  assert.deepEqual(seen?.principal, { kind: "service", service: "gateway-internal" });
  assert.match(seen?.requestId ?? "", /^[0-9a-f-]{36}$/);
  assert.match(seen?.traceparent ?? "", /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
});

test("an invalid input is rejected with the name of the field", async () => {
  const lifecycle = await owner();
  lifecycle.serve(read, (_, input) => input);
  await lifecycle.announce();
  const input = { n: "one" } as unknown as { n: number };
  await assert.rejects(gateway.call(read, input), fails("bad_request", /^n: /));
  await assert.rejects(gateway.call(read, { n: 1, m: 2 } as { n: number }), fails("bad_request", /"m"/));
});

test("a fault arrives with its name, message and seconds", async () => {
  const lifecycle = await owner();
  lifecycle.serve(change, (context) => {
    throw context.fault("cooldown", { message: "Woken a moment ago.", retryAfterSeconds: 12 });
  });
  await lifecycle.announce();
  await assert.rejects(gateway.call(change, { n: 1 }), (error: unknown) => {
    assert.deepEqual(
      { ...(error as object), message: (error as Error).message },
      { name: "Fault", fault: "cooldown", retryAfterSeconds: 12, message: "Woken a moment ago." },
    );
    return true;
  });
});

test("an unknown error is internal, its text is withheld, and it is logged once under the request id", async () => {
  const { log, lines } = captureLog();
  const lifecycle = await owner(log);
  lifecycle.serve(change, () => {
    throw new Error("password=hunter2");
  });
  await lifecycle.announce();
  await assert.rejects(gateway.call(change, { n: 1 }, { requestId: "r-77" }), (error: unknown) => {
    assert.equal((error as { fault: string }).fault, "internal");
    assert.doesNotMatch((error as Error).message, /hunter2/);
    return true;
  });
  const logged = lines().filter((line) => line["request_id"] === "r-77");
  assert.equal(logged.length, 1);
  assert.match(JSON.stringify(logged[0]), /hunter2/);
});

test("an answer that does not match the contract is internal and logged", async () => {
  const { log, lines } = captureLog();
  const lifecycle = await owner(log);
  lifecycle.serve(change, () => ({ n: "x" }) as unknown as { n: number });
  await lifecycle.announce();
  await assert.rejects(gateway.call(change, { n: 1 }), fails("internal"));
  assert.match(JSON.stringify(lines()), /does not match the contract: n: /);
});

test("an answer over the payload limit is internal and the log says to page it", async () => {
  const { log, lines } = captureLog();
  const lifecycle = await owner(log);
  lifecycle.serve(text, (_, { length }) => ({ text: "x".repeat(length) }));
  await lifecycle.announce();
  assert.equal((await gateway.call(text, { length: 1_000_000 })).text.length, 1_000_000);
  await assert.rejects(gateway.call(text, { length: 1_048_577 }), fails("internal"));
  assert.match(JSON.stringify(lines()), /page it/);
});

test("a request above the limit in flight gets overloaded at once with Retry-After 1", async () => {
  const lifecycle = await owner();
  const narrow = { ...change, maxInFlight: 2 };
  const gated = serveGated(lifecycle, narrow);
  await lifecycle.announce();
  const held = [gateway.call(narrow, { n: 1 }), gateway.call(narrow, { n: 2 })];
  await until(() => gated.count() === 2);
  await assert.rejects(gateway.call(narrow, { n: 3 }), (error: unknown) => {
    assert.equal((error as { fault: string }).fault, "overloaded");
    assert.equal((error as { retryAfterSeconds: number }).retryAfterSeconds, 1);
    return true;
  });
  gated.release();
  assert.deepEqual(await Promise.all(held), [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(await gateway.call(narrow, { n: 4 }), { n: 4 });
});

test("a gateway gets the session, the byte transfer and the stream with the body", async () => {
  const lifecycle = await owner();
  lifecycle.serve(change, (context, input) => {
    context.reply.session = { value: "s", expires_at: "2030-01-01T00:00:00Z" };
    context.reply.byteTransfer = {
      url: "http://127.0.0.1:1/lanes/x",
      token: "t",
      headers: { "content-type": "a/b" },
    };
    context.reply.stream = { stream: "LIFECYCLE_LIVE", subject: "svc.live.lifecycle.console.a", tail: 5 };
    return input;
  });
  await lifecycle.announce();
  const reply = await gateway.forward(change, { n: 9 });
  assert.equal(Buffer.from(reply.body).toString(), '{"n":9}');
  assert.equal(reply.session?.value, "s");
  assert.equal(reply.byteTransfer?.headers["content-type"], "a/b");
  assert.equal(reply.stream?.tail, 5);
});

test("two replicas share the requests", async () => {
  const shares = [0, 0];
  for (const index of [0, 1]) {
    const lifecycle = await owner();
    lifecycle.serve(read, (_, input) => {
      shares[index] = (shares[index] ?? 0) + 1;
      return input;
    });
    await lifecycle.announce();
  }
  await until(async () => {
    await gateway.call(read, { n: 0 });
    return Math.min(...shares) > 0;
  });
  shares.fill(0);
  await Promise.all(Array.from({ length: 200 }, (_, n) => gateway.call(read, { n })));
  assert.equal((shares[0] ?? 0) + (shares[1] ?? 0), 200);
  assert.ok(Math.min(...shares) > 40, `shares ${shares}`);
});

test("drain answers requests in flight and leaves the rest to another replica", async () => {
  const first = await owner();
  const gated = serveGated(first, read);
  await first.announce();
  const held = gateway.call(read, { n: 1 });
  await until(() => gated.count() === 1);
  const second = await owner();
  second.serve(read, () => ({ n: 2 }));
  await second.announce();
  const drained = first.drain();
  const isTaken = () =>
    gateway.call(read, { n: 0 }, { deadlineAt: Date.now() + 300 }).then(
      ({ n }) => n === 2,
      () => false,
    );
  await until(isTaken);
  for (let n = 0; n < 20; n++) assert.deepEqual(await gateway.call(read, { n }), { n: 2 });
  gated.release();
  await drained;
  assert.deepEqual(await held, { n: 1 });
  assert.equal(first.status().connected, false);
});

test("drain ends within its limit and aborts a handler that hangs", async () => {
  const lifecycle = await owner();
  let received = false;
  let inside = false;
  lifecycle.serve(change, async ({ signal }, input) => {
    inside = true;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    received = true;
    return input;
  });
  await lifecycle.announce();
  const held = gateway.call(change, { n: 1 });
  await until(() => inside);
  const startedAt = Date.now();
  await lifecycle.drain(200);
  assert.ok(received);
  assert.ok(Date.now() - startedAt < 2_000);
  assert.deepEqual(await held, { n: 1 });
});

test("requests are counted by subject and outcome on both sides", async () => {
  const registry = createRegistry("lifecycle", "0.0.1");
  const lifecycle = await nats.connect("lifecycle", { registry });
  owners.push(lifecycle);
  lifecycle.serve(change, (context, { n }) => {
    if (n === 0) throw context.fault("not_found");
    return { n };
  });
  await lifecycle.announce();
  await gateway.call(change, { n: 1 });
  await assert.rejects(gateway.call(change, { n: 0 }), fails("not_found"));
  const metrics = await registry.metrics();
  const subject = change.subject;
  assert.match(metrics, new RegExp(`svc_mesh_served_total{subject="${subject}",outcome="ok"} 1`));
  assert.match(metrics, new RegExp(`svc_mesh_served_total{subject="${subject}",outcome="not_found"} 1`));
  assert.match(metrics, new RegExp(`svc_mesh_served_in_flight{subject="${subject}"} 0`));
  assert.match(metrics, /svc_audit_write_failures_total 0/);
});

test("a request whose answer would not reach one of its callers is neither handled nor answered", async () => {
  const registry = createRegistry("lifecycle", "test");
  const { log, lines } = captureLog();
  const lifecycle = await nats.connect("lifecycle", { registry, log });
  owners.push(lifecycle);
  const handled: number[] = [];
  lifecycle.serve(read, (_, input) => {
    handled.push(input.n);
    return input;
  });
  await lifecycle.announce();
  const user = "gateway-internal";
  const raw = await connect({
    servers: nats.url,
    user,
    pass: nats.passwords[user] ?? "",
    inboxPrefix: "_INBOX_gateway_internal",
  });
  const refused = [
    undefined,
    "_INBOX_storage.a",
    "_INBOX_gateway_internal",
    "_INBOX_gateway_internals.a",
    "svc.rpc.identity.user.create",
    "svc.audit.lifecycle",
    "$KV.servers.survival",
  ];
  const headers = msgHeaders();
  headers.set("Svc-Principal", JSON.stringify({ kind: "service", service: user }));
  for (const [n, reply] of refused.entries())
    raw.publish(rpcSubject(read), JSON.stringify({ n }), { headers, ...(reply && { reply }) });
  await raw.request(rpcSubject(read), JSON.stringify({ n: 99 }), { headers, timeout: 5_000 });
  await raw.close();
  assert.deepEqual(handled, [99]);
  assert.equal(lines().filter(({ msg }) => String(msg).includes("not sent by a caller")).length, 7);
  assert.match(await registry.metrics(), /svc_mesh_refused_requests_total\{[^}]*read-status[^}]*\} 7/);
});

test("a handler that outlives a restart of NATS answers nobody and logs no error", async () => {
  const own = await startTestNats();
  const { log, lines } = captureLog();
  const lifecycle = await own.connect("lifecycle", { log });
  const caller = await own.connect("gateway-internal");
  const gate = Promise.withResolvers<void>();
  const inside = Promise.withResolvers<void>();
  lifecycle.serve(change, async (_, input) => {
    if (input.n === 0) {
      inside.resolve();
      await gate.promise;
    }
    return input;
  });
  await lifecycle.announce();
  const lost = assert.rejects(caller.call(change, { n: 0 }), fails("unavailable"));
  await inside.promise;
  await own.kill();
  await lost;
  await own.start();
  await until(() => lifecycle.status().reconnects === 1);
  gate.resolve();
  // NATS reports on the late answer before it handles the next request.
  await until(async () => (await caller.call(change, { n: 1 }).catch(() => undefined))?.n === 1);
  assert.deepEqual(
    lines().filter(({ level }) => Number(level) >= 50),
    [],
  );
  await caller.drain();
  await lifecycle.drain(100);
  await own.stop();
});
