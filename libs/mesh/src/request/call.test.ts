import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Mesh } from "../api.ts";
import { change, read } from "../testing/contracts.ts";
import { serveGated } from "../testing/gated.ts";
import { startReplica } from "../testing/replica.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";

let nats: TestNats;
let gateway: Mesh;

before(async () => {
  nats = await startTestNats();
  gateway = await nats.connect("gateway-internal");
});
after(async () => {
  await gateway?.drain();
  await nats?.stop();
});

const isUnavailable = (error: unknown) => (error as { fault: string }).fault === "unavailable";

test("a call without a responder is unavailable at once", async () => {
  const startedAt = Date.now();
  await assert.rejects(gateway.call(change, { n: 1 }), isUnavailable);
  assert.ok(Date.now() - startedAt < 1_000);
});

test("an idempotent call reaches an owner that starts a moment later; another call does not wait", async () => {
  // Two more attempts take 100 to 400 ms; on a slow machine they may be over before the owner has started.
  const waiting = gateway.call(read, { n: 1 }).catch((error: unknown) => error);
  await assert.rejects(gateway.call(change, { n: 1 }), isUnavailable);
  const lifecycle = await nats.connect("lifecycle");
  lifecycle.serve(read, (_, input) => input);
  await lifecycle.announce();
  const answer = await waiting;
  if (!isUnavailable(answer)) assert.deepEqual(answer, { n: 1 });
  await lifecycle.drain();
});

test("an overloaded owner is asked again only for an idempotent contract", async () => {
  const lifecycle = await nats.connect("lifecycle");
  const tries = { read: 0, change: 0 };
  lifecycle.serve(read, (context, input) => {
    tries.read += 1;
    if (tries.read < 3) throw context.fault("overloaded");
    return input;
  });
  lifecycle.serve(change, (context) => {
    tries.change += 1;
    throw context.fault("overloaded");
  });
  await lifecycle.announce();
  assert.deepEqual(await gateway.call(read, { n: 5 }), { n: 5 });
  await assert.rejects(
    gateway.call(change, { n: 5 }),
    (error) => (error as { fault: string }).fault === "overloaded",
  );
  assert.deepEqual(tries, { read: 3, change: 1 });
  await lifecycle.drain();
});

test("a call that takes too long is unavailable and not repeated", async () => {
  const lifecycle = await nats.connect("lifecycle");
  const gated = serveGated(lifecycle, read);
  await lifecycle.announce();
  await assert.rejects(gateway.call(read, { n: 1 }, { deadlineAt: Date.now() + 100 }), isUnavailable);
  assert.equal(gated.count(), 1);
  gated.release();
  await lifecycle.drain();
});

test("an aborted call ends at once", async () => {
  const lifecycle = await nats.connect("lifecycle");
  const gated = serveGated(lifecycle, read);
  await lifecycle.announce();
  const giveUp = new AbortController();
  const call = gateway.call(read, { n: 1 }, { signal: giveUp.signal });
  giveUp.abort();
  await assert.rejects(call, isUnavailable);
  gated.release();
  await lifecycle.drain();
});

test("kill -9 of one replica loses only its calls in flight, and these come back unavailable", async () => {
  const replicas = [startReplica(nats, "1"), startReplica(nats, "2")];
  await Promise.all(replicas.map((replica) => replica.ready));
  const first = replicas[0]!;
  const second = replicas[1]!;
  const outcomes: string[] = [];
  let isRunning = true;
  const caller = async () => {
    while (isRunning) {
      const outcome = await gateway.call(change, { n: 1 }, { deadlineAt: Date.now() + 700 }).then(
        ({ n }) => `replica ${n}`,
        (error) => (error as { fault: string }).fault,
      );
      outcomes.push(outcome);
    }
  };
  const callers = Array.from({ length: 8 }, caller);
  const seen = (what: string) => outcomes.filter((outcome) => outcome === what).length;
  await until(() => seen("replica 1") > 20 && seen("replica 2") > 20);
  await first.kill();
  const before = seen("replica 2");
  await until(() => seen("replica 2") > before + 200);
  isRunning = false;
  await Promise.all(callers);
  const lost = seen("unavailable");
  assert.ok(lost <= 8, `${lost} calls lost`);
  assert.equal(outcomes.length, seen("replica 1") + seen("replica 2") + lost);
  await second.kill();
});
