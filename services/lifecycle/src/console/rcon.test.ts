import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { faultOf } from "@svc/mesh/testing";
import { createRconFixture, type RconFixture } from "../testing/console/rcon-fixture.ts";
import { defaults } from "../testing/observed.ts";
import { createServerRcon, type ServerRcon } from "./rcon.ts";

let fixture: RconFixture;
let rcon: ServerRcon;
const open = (more: Partial<typeof defaults> = {}) => {
  rcon = createServerRcon({ kube: fixture.kube, settings: { ...defaults, ...more } });
};

beforeEach(() => {
  fixture = createRconFixture();
  open();
});
afterEach(async () => {
  await rcon.close();
  await fixture.close();
});

test("commands of many callers share one connection, in order", async () => {
  const ran: string[] = [];
  await fixture.start((command) => {
    ran.push(command);
    return `did ${command}`;
  });
  const commands = Array.from({ length: 10 }, (_, n) => `c${n}`);
  const answers = await Promise.all(commands.map((command) => rcon.run(fixture.server, command)));
  assert.deepEqual(
    answers,
    commands.map((command) => `did ${command}`),
  );
  assert.deepEqual(ran, commands);
  assert.equal(fixture.secret.reads, 1);
});

test("equal concurrent queries are sent once; a later one is sent again", async () => {
  let asked = 0;
  await fixture.start(() => String(++asked));
  const all = await Promise.all([1, 2, 3].map(() => rcon.query(fixture.server, "list")));
  assert.deepEqual(all, ["1", "1", "1"]);
  assert.equal(await rcon.query(fixture.server, "list"), "2");
});

test("equal concurrent commands run as often as they were sent", async () => {
  let ran = 0;
  await fixture.start(() => String(++ran));
  const all = await Promise.all([1, 2, 3].map(() => rcon.run(fixture.server, "say hi")));
  assert.deepEqual(all.sort(), ["1", "2", "3"]);
});

test("a missing server is 503, and works once it is there", async () => {
  assert.equal(await faultOf(rcon.run(fixture.server, "list")), "unavailable");
  await fixture.start(() => "here");
  assert.equal(await rcon.run(fixture.server, "list"), "here");
});

test("a restarted server is connected to again", async () => {
  const first = await fixture.start(() => "one");
  assert.equal(await rcon.run(fixture.server, "list"), "one");
  await first.close();
  await fixture.start(() => "two");
  const again = async (): Promise<string> =>
    rcon.run(fixture.server, "list").catch(() => rcon.run(fixture.server, "list"));
  assert.equal(await again(), "two");
});

test("a server that hangs is 503 within the timeout, and delays no others", async () => {
  open({ rcon_timeout: 150 });
  let release = () => {};
  await fixture.start(() => new Promise<string>((resolve) => (release = () => resolve("late"))));
  const startedAt = performance.now();
  assert.equal(await faultOf(rcon.run(fixture.server, "list")), "unavailable");
  assert.ok(performance.now() - startedAt < 2_000);
  release();
  const other = createRconFixture();
  await other.start(() => "fine");
  const fine = { ...other.server, metadata: { ...other.server.metadata, name: "other" } };
  fixture.secret.password = "first";
  assert.equal(await rcon.run(fine, "list"), "fine");
  await rcon.close();
  await other.close();
});

test("more commands than fit the queue are refused at once", async () => {
  open({ rcon_waiting: 3 });
  const gate = Promise.withResolvers<string>();
  await fixture.start(() => gate.promise);
  const waiting = [1, 2, 3].map((n) => rcon.run(fixture.server, `c${n}`));
  assert.equal(await faultOf(rcon.run(fixture.server, "one too many")), "overloaded");
  gate.resolve("done");
  assert.deepEqual(await Promise.all(waiting), ["done", "done", "done"]);
  assert.equal(await rcon.run(fixture.server, "room again"), "done");
});

test("a replaced password is read again; a wrong one is 503", async () => {
  const first = await fixture.start(() => "one");
  assert.equal(await rcon.run(fixture.server, "list"), "one");
  await first.close();
  await fixture.start(() => "two", "second");
  fixture.secret.password = "second";
  const again = () => rcon.run(fixture.server, "list");
  assert.equal(await again().catch(again), "two");
  const other = createRconFixture();
  await other.start(() => "never", "not what the Secret says");
  const wrong = { ...other.server, metadata: { ...other.server.metadata, name: "other" } };
  assert.equal(await faultOf(rcon.run(wrong, "list")), "unavailable");
  await other.close();
});

test("a server without RCON or without an address is 503 with a helpful message", async () => {
  const off = { ...fixture.server, spec: { ...fixture.server.spec, rcon: { enabled: false } } };
  await assert.rejects(rcon.run(off, "list"), /RCON is disabled/);
  const { endpoint: _endpoint, ...status } = fixture.server.status ?? {};
  await assert.rejects(rcon.run({ ...fixture.server, status }, "list"), /no address yet/);
});
