// Many viewers, many consoles and failing processes: real gateways, NATS and PostgreSQL.

import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, afterEach, before, test } from "node:test";
import { many } from "@svc/config/testing";
import { patience } from "@svc/local-stack/testing";
import { until } from "@svc/mesh/testing";
import { accounts, eventSubject } from "@svc/proto";
import { createWire } from "@svc/store/testing";
import { type ConsoleFixture, openConsoleFixture, readConsole } from "../testing/console/console-fixture.ts";

const quick = { console_lease: 1_500, console_renew: 200, console_poll: 50 };

let fixture: ConsoleFixture;
before(async () => {
  fixture = await openConsoleFixture();
});
after(() => fixture.close());
// Logs that viewers of the previous test watched are followed for some minutes.
afterEach(async () => {
  await fixture.endParts();
  await fixture.database.admin("delete from lifecycle.console_follows");
});

const numbersIn = (lines: readonly string[], word: string) =>
  lines.flatMap((line) => (line.startsWith(`${word} `) ? Number(line.slice(word.length + 1)) : []));
const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, n) => from + n);

/** Behind it, the reader gets every line and not only the last hundred. */
async function untilLive({ lines }: { lines: readonly string[] }, server: string): Promise<void> {
  fixture.cluster.say(server, "live");
  await until(() => lines.includes("live"));
}

const crowd = many(1_000, 250);
const consoles = many(200, 60);

test(`${crowd} readers of one console get every line once, from one read of its log`, {
  timeout: 60_000 * patience,
}, async () => {
  const replica = await fixture.startReplica(quick);
  const gateway = await fixture.startGateway();
  for (let n = 0; n < 50; n++) fixture.cluster.say("crowded", `line ${n}`);
  const readers = await Promise.all(
    upTo(crowd).map((n) => readConsole(gateway, { name: "crowded", cookie: fixture.cookieOf(n % 100) })),
  );
  assert.ok(readers.every((reader) => reader.status() === 200));
  for (let n = 50; n < 100; n++) fixture.cluster.say("crowded", `line ${n}`);
  await until(() => readers.every(({ lines }) => lines.length >= 100), 30_000);
  for (const { lines } of readers) assert.deepEqual(numbersIn(lines, "line"), upTo(100));
  assert.equal(fixture.cluster.following(), 1);
  assert.match(
    await gateway.registry.metrics(),
    new RegExp(`^svc_event_streams_open(\\{[^}]*\\})? ${crowd}$`, "m"),
  );
  for (const reader of readers) reader.leave();
  await Promise.all([gateway.close(), replica.stop()]);
});

test(`${consoles} consoles at once over two replicas and two gateways: each viewer gets its own lines`, {
  timeout: 60_000 * patience,
}, async () => {
  const replicas = await Promise.all([fixture.startReplica(quick), fixture.startReplica(quick)]);
  const gateways = await Promise.all([fixture.startGateway(), fixture.startGateway()]);
  const names = upTo(consoles).map((n) => `world-${n}`);
  const readers = await Promise.all(
    names.map((name, n) => {
      const gateway = gateways[n % 2];
      assert.ok(gateway);
      return readConsole(gateway, { name, cookie: fixture.cookieOf(n % 20) });
    }),
  );
  for (let n = 0; n < 20; n++) for (const name of names) fixture.cluster.say(name, `${name} ${n}`);
  await until(() => readers.every(({ lines }) => lines.length >= 20), 30_000);
  for (const [n, { lines }] of readers.entries())
    assert.deepEqual(numbersIn(lines, names[n] ?? ""), upTo(20));
  const followed = async () =>
    Promise.all(
      replicas.map(async ({ registry }) =>
        Number(/^svc_console_follows(?:\{[^}]*\})? (\d+)$/m.exec(await registry.metrics())?.[1]),
      ),
    );
  // A machine that stops for longer than a lease hands some on: for a moment both replicas follow them.
  await until(async () => {
    const [first = 0, second = 0] = await followed();
    return first + second === consoles && fixture.cluster.following() === consoles;
  });
  const counts = await followed();
  assert.ok(Math.min(...counts) > consoles / 10, `both replicas follow: ${counts.join(" and ")}`);
  for (const reader of readers) reader.leave();
  await Promise.all([...gateways.map(({ close }) => close()), ...replicas.map(({ stop }) => stop())]);
});

test("a viewer that does not read delays nobody else", { timeout: 30_000 * patience }, async () => {
  const replica = await fixture.startReplica({
    ...quick,
    console_burst: 100_000,
    console_lines_per_second: 100_000,
  });
  const gateway = await fixture.startGateway({ streamBufferBytes: 256 * 1_024, streamStuckMs: 400 });
  const slow = connect({ host: "127.0.0.1", port: gateway.port });
  slow.on("error", () => {});
  slow.write(
    `GET /api/v1/servers/slow/console HTTP/1.1\r\nHost: op.test\r\nCookie: ${fixture.cookieOf(1)}\r\n\r\n`,
  );
  await new Promise((resolve) => slow.once("data", resolve));
  slow.pause();
  const good = await readConsole(gateway, { name: "slow", cookie: fixture.cookieOf(2) });
  const filler = "x".repeat(3_000);
  const slowest: number[] = [];
  for (let n = 0; n < 4_000; n += 20) {
    for (let k = n; k < n + 20; k++) fixture.cluster.say("slow", `${filler} ${k}`);
    const saidAt = performance.now();
    await until(() => good.lines.at(-1)?.endsWith(` ${n + 19}`) === true);
    slowest.push(performance.now() - saidAt);
  }
  assert.equal(good.lines.length, 4_000);
  await until(async () => {
    const text = await gateway.registry.metrics();
    return Number(/^svc_event_stream_lines_dropped_total(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1]) > 0;
  });
  await until(async () => /^svc_event_streams_open(\{[^}]*\})? 1$/m.test(await gateway.registry.metrics()));
  assert.ok(Math.max(...slowest) < 5_000);
  good.leave();
  slow.destroy();
  await Promise.all([gateway.close(), replica.stop()]);
});

test("a silent follower is replaced within seconds; what it still reads is not repeated", {
  timeout: 30_000 * patience,
}, async () => {
  const wire = await createWire(fixture.database.url);
  const silent = await fixture.startReplica(quick, wire.url);
  const gateway = await fixture.startGateway();
  const reader = await readConsole(gateway, { name: "handed-on", cookie: fixture.cookieOf(1) });
  let said = 0;
  const saying = setInterval(() => fixture.cluster.say("handed-on", `line ${said++}`), 2);
  await until(() => reader.lines.length > 50);
  const next = await fixture.startReplica(quick);
  // It can no longer renew its lease, but keeps reading and writing.
  await wire.cut();
  const cutAt = performance.now();
  const follows = async () => /^svc_console_follows(\{[^}]*\})? 1$/m.test(await next.registry.metrics());
  await until(follows);
  assert.ok(performance.now() - cutAt < 6_000);
  const atHandover = said;
  await until(() => reader.lines.length > atHandover + 200);
  clearInterval(saying);
  await until(() => numbersIn(reader.lines, "line").at(-1) === said - 1);
  assert.deepEqual(numbersIn(reader.lines, "line"), upTo(said));
  reader.leave();
  await Promise.all([gateway.close(), next.stop(), silent.stop()]);
});

test("after a restart of the gateway a viewer continues from the second of its last line", {
  timeout: 30_000 * patience,
}, async () => {
  const replica = await fixture.startReplica(quick);
  const first = await fixture.startGateway();
  const reader = await readConsole(first, { name: "resumed", cookie: fixture.cookieOf(1) });
  await untilLive(reader, "resumed");
  for (let n = 0; n < 300; n++) fixture.cluster.say("resumed", `line ${n}`);
  await until(() => numbersIn(reader.lines, "line").length === 300);
  const lastId = reader.lastId() ?? "";
  await first.close();
  await reader.ended;
  for (let n = 300; n < 900; n++) fixture.cluster.say("resumed", `line ${n}`);
  const second = await fixture.startGateway();
  const again = await readConsole(second, { name: "resumed", cookie: fixture.cookieOf(1), lastId });
  await until(() => numbersIn(again.lines, "line").at(-1) === 899);
  const seen = numbersIn(again.lines, "line");
  assert.ok((seen[0] ?? 900) <= 300, "nothing is missing between the two");
  assert.deepEqual(seen, upTo(900, seen[0]));
  again.leave();
  await Promise.all([second.close(), replica.stop()]);
});

test("a session that is revoked ends its console at every gateway at once", {
  timeout: 30_000 * patience,
}, async () => {
  const replica = await fixture.startReplica(quick);
  const gateways = await Promise.all([fixture.startGateway(), fixture.startGateway()]);
  const open = (n: number) =>
    Promise.all(
      gateways.map((gateway) => readConsole(gateway, { name: "guarded", cookie: fixture.cookieOf(n) })),
    );
  const [theirs, others] = [await open(7), await open(8)];
  const data = { hash: fixture.hashOf(7), user_id: "usr-7", at: new Date().toISOString() };
  const body = Buffer.from(JSON.stringify(data));
  await fixture.identity.publish([
    { id: "revoked-7", subject: eventSubject(accounts.sessionRevoked, data), body },
  ]);
  await Promise.all(theirs.map(({ ended }) => ended));
  for (const reader of theirs) assert.match(reader.text(), /event: revoked\ndata: revoked\n\n$/);
  fixture.cluster.say("guarded", "for the others");
  await until(() => others.every(({ lines }) => lines.includes("for the others")));
  for (const reader of others) reader.leave();
  await Promise.all([...gateways.map(({ close }) => close()), replica.stop()]);
});

test("a server that floods its log is limited to its share, and the viewer sees how much is missing", {
  timeout: 30_000 * patience,
}, async () => {
  const replica = await fixture.startReplica({ ...quick, console_burst: 200, console_lines_per_second: 50 });
  const gateway = await fixture.startGateway();
  const reader = await readConsole(gateway, { name: "flood", cookie: fixture.cookieOf(1) });
  await untilLive(reader, "flood");
  for (let n = 0; n < 5_000; n++) fixture.cluster.say("flood", `line ${n}`);
  // Where the log takes its time, lines have a share again in between, and what is missing is said more than once.
  const omitted = () =>
    reader.lines.reduce((sum, line) => sum + Number(/^(\d+) lines are omitted/.exec(line)?.[1] ?? 0), 0);
  await until(() => numbersIn(reader.lines, "line").length + omitted() === 5_000);
  assert.ok(omitted() > 4_000, `${omitted()} lines are omitted`);
  assert.match(
    await replica.registry.metrics(),
    new RegExp(`svc_console_lines_dropped_total(\\{[^}]*\\})? ${omitted()}\n`),
  );
  reader.leave();
  await Promise.all([gateway.close(), replica.stop()]);
});

test("what a game server prints cannot forge an event, a field or an escape sequence", {
  timeout: 30_000 * patience,
}, async () => {
  const replica = await fixture.startReplica(quick);
  const gateway = await fixture.startGateway();
  const reader = await readConsole(gateway, { name: "forged", cookie: fixture.cookieOf(1) });
  for (const line of [
    "x\r\revent: revoked\r\r",
    "\u001b[2Jid: 1\u2028data: y",
    "id: 5",
    "event: revoked",
    ": comment",
  ])
    fixture.cluster.say("forged", line);
  fixture.cluster.say("forged", "last");
  await until(() => reader.lines.includes("last"));
  assert.deepEqual(reader.lines, [
    "xevent: revoked",
    "id: 1data: y",
    "id: 5",
    "event: revoked",
    ": comment",
    "last",
  ]);
  assert.doesNotMatch(reader.text(), /^event:/m);
  reader.leave();
  await Promise.all([gateway.close(), replica.stop()]);
});

test("lines that nobody watched are read later up to a limit, and the viewer is told", {
  timeout: 30_000 * patience,
}, async () => {
  const replica = await fixture.startReplica({ ...quick, console_catch_up: 500, console_linger: 400 });
  const gateway = await fixture.startGateway();
  const watchOnce = async (lastId?: string) =>
    readConsole(gateway, { name: "unseen", cookie: fixture.cookieOf(1), ...(lastId && { lastId }) });
  const first = await watchOnce();
  fixture.cluster.say("unseen", "line 0");
  await until(() => first.lines.includes("line 0"));
  first.leave();
  await until(() => fixture.cluster.following() === 0);
  for (let n = 1; n < 2_000; n++) fixture.cluster.say("unseen", `line ${n}`);
  const again = await watchOnce(first.lastId());
  await until(() => again.lines.includes("line 1999"));
  assert.deepEqual(numbersIn(again.lines, "line"), [0, ...upTo(2_000, 1_500)]);
  assert.ok(again.lines.some((line) => line.startsWith("Earlier lines are omitted")));
  again.leave();
  await Promise.all([gateway.close(), replica.stop()]);
});
