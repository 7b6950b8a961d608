import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { header, inboxPrefix } from "@svc/proto";
import type { Mesh } from "../api.ts";
import { change, changeOnce, read } from "../testing/contracts.ts";
import { serveGated } from "../testing/gated.ts";
import { type Replica, startReplica } from "../testing/replica.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";
import { decideWait, type Waiting } from "./attempts.ts";

let nats: TestNats;
let gateway: Mesh;

before(async () => {
  nats = await startTestNats();
  gateway = await nats.connect("gateway-internal");
});
after(async () => {
  for (const replica of started) await replica.kill();
  await gateway?.drain();
  await nats?.stop();
});

const started: Replica[] = [];
function start(name: string): Replica {
  const replica = startReplica(nats, name);
  started.push(replica);
  return replica;
}

const isUnavailable = (error: unknown) => (error as { fault: string }).fault === "unavailable";

const waiting: Waiting = {
  mayRepeat: true,
  tryMs: 2_000,
  deadlineMs: 10_000,
  sinceSentMs: 500,
  quietMs: 500,
  hasNext: false,
  hasOther: true,
  attemptsLeft: 2,
};
const long = { tryMs: Number.POSITIVE_INFINITY, deadlineMs: 90_000 };
const byId = { mayRepeat: "by-id" } as const;
const decisions: [string, Partial<Waiting>, ReturnType<typeof decideWait>][] = [
  ["an attempt that has just started waits", {}, "wait"],
  ["a read whose replica is silent for a second goes to another", { quietMs: 1_000 }, "ask-other"],
  ["a read that takes two seconds goes to another too", { sinceSentMs: 2_000, quietMs: 0 }, "ask-other"],
  ["one attempt has one successor", { quietMs: 1_500, hasNext: true }, "wait"],
  ["the number of attempts is limited", { quietMs: 5_000, attemptsLeft: 0 }, "wait"],
  ["without another replica, it waits for a silent one", { quietMs: 1_500, hasOther: false }, "wait"],
  ["then NATS chooses again", { quietMs: 2_000, hasOther: false }, "ask-again"],
  ["a change at a silent replica waits", { mayRepeat: false, quietMs: 1_500 }, "wait"],
  ["a change at a silent replica fails after two seconds", { mayRepeat: false, quietMs: 2_000 }, "give-up"],
  ["a change in progress is waited for", { mayRepeat: false, sinceSentMs: 9_000, quietMs: 300 }, "wait"],
  ["a change with an id goes to another replica", { ...byId, quietMs: 1_000 }, "ask-other"],
  ["a change with an id that is in progress stays", { ...byId, sinceSentMs: 9_000, quietMs: 300 }, "wait"],
  ["without another replica it fails as others do", { ...byId, quietMs: 2_000, hasOther: false }, "give-up"],
  ["a long read in progress stays at its replica", { ...long, sinceSentMs: 60_000, quietMs: 300 }, "wait"],
  ["a long read whose replica is silent goes to another", { ...long, quietMs: 1_000 }, "ask-other"],
  ["a long read that nobody works on fails", { ...long, quietMs: 2_000, hasOther: false }, "give-up"],
];
for (const [fact, seen, step] of decisions) {
  test(fact, () => assert.equal(decideWait({ ...waiting, ...seen }), step));
}

async function twoReplicas(): Promise<[Replica, Replica]> {
  const replicas: [Replica, Replica] = [start("1"), start("2")];
  await Promise.all(replicas.map((replica) => replica.ready));
  const seen = new Set<number>();
  await until(async () => {
    seen.add((await gateway.call(read, { n: 0 })).n);
    return seen.size === 2;
  });
  return replicas;
}

test("every read is answered while one of two replicas hangs, and only the first reads wait for it", async () => {
  const [first, second] = await twoReplicas();
  first.stop();
  const reads = Array.from({ length: 20 }, async () => (await gateway.call(read, { n: 0 })).n);
  assert.deepEqual(new Set(await Promise.all(reads)), new Set([2]));
  // The silent replica is known now: it gets no requests, so none waits for an attempt to time out.
  const startedAt = performance.now();
  for (let n = 0; n < 100; n++) assert.equal((await gateway.call(read, { n })).n, 2);
  assert.ok(performance.now() - startedAt < 50 * 1_000, "half of them would have taken a second each");
  first.resume();
  await until(async () => (await gateway.call(read, { n: 0 })).n === 1);
  await Promise.all([first.kill(), second.kill()]);
});

test("every read is answered while one of two replicas is killed", async () => {
  const [first, second] = await twoReplicas();
  let isRunning = true;
  let answers = 0;
  const reader = async () => {
    while (isRunning) {
      await gateway.call(read, { n: 0 });
      answers += 1;
    }
  };
  const readers = Array.from({ length: 8 }, reader);
  await until(() => answers > 100);
  await first.kill();
  const before = answers;
  await until(() => answers > before + 500);
  isRunning = false;
  await Promise.all(readers);
  await second.kill();
});

test("a change at a hung replica is unavailable long before its deadline and is not started later", async () => {
  const [first, second] = await twoReplicas();
  first.stop();
  second.stop();
  const deadlineAt = Date.now() + 60_000;
  await assert.rejects(gateway.call(change, { n: 7 }, { deadlineAt }), isUnavailable);
  assert.ok(Date.now() < deadlineAt - 30_000, "it waited for the deadline");
  first.resume();
  second.resume();
  const seen = new Set<number>();
  await until(async () => {
    seen.add((await gateway.call(read, { n: 0 })).n);
    return seen.size === 2;
  });
  assert.equal(first.output() + second.output(), "ready\nready\n");
  await Promise.all([first.kill(), second.kill()]);
});

test("a change goes to another replica with its id, which answers the first outcome", async () => {
  const hung = start("1");
  await hung.ready;
  const lifecycle = await nats.connect("lifecycle");
  const outcomes = new Map<string, Promise<Uint8Array>>();
  const repeated = new Set<string>();
  // As the database does for all replicas.
  lifecycle.answerRepeats({
    once: ({ id, isRepeat }, run) => {
      if (isRepeat) repeated.add(id);
      const outcome = outcomes.get(id) ?? run();
      outcomes.set(id, outcome);
      return outcome;
    },
  });
  const changes: number[] = [];
  lifecycle.serve(changeOnce, (context, input) => {
    changes.push(input.n);
    if (input.n === 3) throw context.fault("cooldown", { retryAfterSeconds: 12 });
    return { n: input.n + 100 };
  });
  lifecycle.serve(read, () => ({ n: 2 }));
  await lifecycle.announce();
  const seen = new Set<number>();
  await until(async () => {
    seen.add((await gateway.call(read, { n: 0 })).n);
    return seen.size === 2;
  });
  hung.stop();
  const answers = await Promise.allSettled(
    Array.from({ length: 8 }, (_, n) => gateway.call(changeOnce, { n })),
  );
  const results = answers.map((one) => (one.status === "fulfilled" ? one.value.n : one.reason.fault));
  assert.deepEqual(results, [100, 101, 102, "cooldown", 104, 105, 106, 107]);
  assert.deepEqual(changes.toSorted(), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal(outcomes.size, 8);
  assert.ok(repeated.size >= 2, "a share of them went to the replica that hangs");
  await hung.kill();
  await lifecycle.drain();
});

test("dead replicas that were not heard to leave cost a request none of its attempts", async () => {
  const alive = await nats.connect("lifecycle");
  alive.answerRepeats({ once: (_, run) => run() });
  for (const contract of [read, changeOnce]) alive.serve(contract, () => ({ n: 0 }));
  await alive.announce();
  // Each gateway is at another turn, so that one of them meets the two dead ones first, then the one that hangs.
  const gateways = await Promise.all(Array.from({ length: 12 }, () => nats.connect("gateway-internal")));
  for (const one of gateways) await one.call(read, { n: 0 });
  const others: Replica[] = [];
  for (const name of ["1", "2", "3"]) {
    const other = start(name);
    await other.ready;
    others.push(other);
  }
  for (const [turn, one] of gateways.entries()) {
    const seen = new Set<number>();
    await until(async () => {
      seen.add((await one.call(read, { n: 0 })).n);
      return seen.size === 4;
    });
    for (let n = 0; n < turn; n++) await one.call(read, { n: 0 });
  }
  const [first, second, hung] = others;
  hung?.stop();
  await Promise.all([first?.kill(), second?.kill()]);
  const answers = await Promise.all(gateways.map((one) => one.call(changeOnce, { n: 0 })));
  assert.deepEqual(
    answers.map(({ n }) => n),
    gateways.map(() => 0),
  );
  await hung?.kill();
  await Promise.all([alive, ...gateways].map((one) => one.drain()));
});

test("an owner without a record of outcomes rejects a repeat", async () => {
  const lifecycle = await nats.connect("lifecycle");
  let changes = 0;
  lifecycle.serve(changeOnce, (_, input) => {
    changes += 1;
    return input;
  });
  await lifecycle.announce();
  const hung = start("1");
  await hung.ready;
  const seen = new Set<string>();
  await until(async () => {
    seen.add((await gateway.call(changeOnce, { n: 7 })).n === 7 ? "us" : "it");
    return seen.size === 2;
  });
  changes = 0;
  hung.stop();
  const answers = await Promise.allSettled(
    Array.from({ length: 8 }, () => gateway.call(changeOnce, { n: 7 })),
  );
  const made = answers.filter(({ status }) => status === "fulfilled").length;
  assert.ok(made < 8, "a share of them went to the replica that hangs");
  assert.equal(changes, made);
  await hung.kill();
  await lifecycle.drain();
});

test("heartbeats keep a caller waiting for a request in progress", async () => {
  const lifecycle = await nats.connect("lifecycle");
  const gated = serveGated(lifecycle, change);
  await lifecycle.announce();
  const user = "gateway-internal";
  const prefix = inboxPrefix(user);
  const ear = await connect({
    servers: nats.url,
    user,
    pass: nats.passwords[user] ?? "",
    inboxPrefix: prefix,
  });
  let heard = 0;
  ear.subscribe(`${prefix}.>`, {
    callback: (_, message) => {
      if (message.headers?.has(header.heartbeat)) heard += 1;
    },
  });
  await ear.flush();
  const call = gateway.call(change, { n: 3 });
  // Three seconds: longer than any caller waits for a silent owner.
  await until(() => heard >= 12);
  gated.release();
  assert.deepEqual(await call, { n: 3 });
  await ear.close();
  await lifecycle.drain();
});

test("an instance that does not serve a contract lets another answer", async () => {
  const older = await nats.connect("lifecycle");
  older.serve(change, (_, input) => input);
  await older.announce();
  const newer = await nats.connect("lifecycle");
  newer.serve(read, () => ({ n: 2 }));
  await newer.announce();
  for (let n = 0; n < 20; n++) assert.deepEqual(await gateway.call(read, { n }), { n: 2 });
  await Promise.all([older.drain(), newer.drain()]);
});
