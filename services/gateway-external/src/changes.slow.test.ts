// Streams of changes from gateway processes, under the permissions that NATS is shipped with.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import type { Mesh, ViewWriter } from "@svc/mesh";
import { startTestNats, type TestNats, until } from "@svc/mesh/testing";
import {
  accounts,
  type EventContract,
  eventSubject,
  type ServerInfo,
  type ServerOwnership,
  schedules,
  servers,
  worldChanges,
} from "@svc/proto";

let nats: TestNats;
let lifecycle: Mesh;
let storage: Mesh;
let identity: Mesh;
let infos: ViewWriter<ServerInfo>;
let owners: ViewWriter<ServerOwnership>;
type Gateway = { child: ChildProcess; port: number };
let first: Gateway;
let second: Gateway;

const at = "2026-01-01T00:00:00.000Z";
const cookies = { alice: "a".repeat(43), bob: "b".repeat(43), staff: "s".repeat(43) } as const;
type Who = keyof typeof cookies;
const hashOf = (who: Who) => createHash("sha256").update(cookies[who]).digest("hex");
const info = (name: string, playersOnline: number): ServerInfo => ({
  ...{ name, subdomain: name, phase: "Running", ready: true, playersOnline, playersMax: 20 },
  idleStopSeconds: 600,
});
let players = 0;
const change = (name: string) => infos.put(name, info(name, ++players % 20));
const own = (name: string, ownerId?: string) =>
  owners.put(name, { name, subdomain: name, claimable: ownerId === undefined, ...(ownerId && { ownerId }) });

async function publish<D>(mesh: Mesh, event: EventContract<D>, data: D): Promise<void> {
  const id = randomBytes(8).toString("hex");
  await mesh.publish([{ id, subject: eventSubject(event, data), body: Buffer.from(JSON.stringify(data)) }]);
}
const changeWorld = (server_name: string, type: "job" | "backup") =>
  publish(storage, worldChanges.worldChanged, { server_name, type });

before(async () => {
  nats = await startTestNats();
  [lifecycle, storage, identity] = await Promise.all([
    nats.connect("lifecycle"),
    nats.connect("storage"),
    nats.connect("identity"),
  ]);
  identity.serve(accounts.resolveSession, (_context, { hash }) => {
    const who = (Object.keys(cookies) as Who[]).find((one) => hashOf(one) === hash);
    if (!who) return { state: "unknown" as const };
    const isStaff = who === "staff";
    const host = isStaff ? ("operator" as const) : ("player" as const);
    const role = isStaff ? ("admin" as const) : ("user" as const);
    const about = { user_id: `usr-${who}`, username: who, role, setup: false, host };
    return { state: "live" as const, ...about, expires_at: "2999-01-01T00:00:00.000Z" };
  });
  infos = await lifecycle.writeView(servers.servers);
  owners = await lifecycle.writeView(servers.serverOwners);
  await infos.replace(new Map(["anvil", "beacon", "free"].map((name) => [name, info(name, 0)])));
  await owners.replace(
    new Map([
      ["anvil", { name: "anvil", subdomain: "anvil", claimable: false, ownerId: "usr-alice" }],
      ["beacon", { name: "beacon", subdomain: "beacon", claimable: false, ownerId: "usr-bob" }],
      ["free", { name: "free", subdomain: "free", claimable: true }],
    ]),
  );
  [first, second] = await Promise.all([startGateway(), startGateway()]);
});
after(async () => {
  for (const { child } of [first, second].filter(Boolean)) await kill(child);
  await Promise.all([lifecycle, storage, identity].map((mesh) => mesh.drain(500)));
  await nats.stop();
});

async function startGateway(): Promise<Gateway> {
  const child = spawn(process.execPath, [testProgram(fileURLToPath(new URL("main.ts", import.meta.url)))], {
    env: {
      ...process.env,
      SVC_NATS_URL: nats.url,
      SVC_NATS_PASSWORD: nats.passwords["gateway-external"],
      SVC_LISTEN: "127.0.0.1:0",
      SVC_SET: "server.root_domain=example.test\ngateway.change_overlap=100ms",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert.ok(child.stdout);
  for await (const line of createInterface(child.stdout)) {
    const entry = JSON.parse(line);
    if (entry.msg !== "listening on the external face") continue;
    child.stdout.resume();
    return { child, port: entry.port };
  }
  throw new Error("the gateway ended before it listened");
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

type Stream = { received: () => string[]; lastId: () => string; ended: Promise<unknown>; leave: () => void };

async function watch({ port }: Gateway, who: Who, lastId?: string): Promise<Stream> {
  const request = httpRequest({
    ...{ host: "127.0.0.1", port, path: "/api/v1/me/events", agent: false },
    headers: {
      cookie: `svc_session=${cookies[who]}`,
      host: who === "staff" ? "op.console.example.test" : "console.example.test",
      ...(lastId !== undefined && { "last-event-id": lastId }),
    },
  });
  request.on("error", () => {});
  request.end();
  const [response] = await once(request, "response");
  assert.equal(response.statusCode, 200);
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  response.on("error", () => {});
  const received = () =>
    [...text.matchAll(/(?:event: (\w+)\n)?data: (.*)\n/g)].map(([, event, data = ""]) => {
      if (event !== undefined) return event;
      const { type, server } = JSON.parse(data);
      return `${type} ${server}`;
    });
  return {
    received,
    lastId: () => [...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? assert.fail("no id yet"),
    ended: new Promise((resolve) => response.once("close", resolve)),
    leave: () => request.destroy(),
  };
}

const heard = (stream: Stream, ...wanted: string[]) =>
  until(() => wanted.every((one) => stream.received().includes(one)), 20_000, wanted.join(", "));

/** Acts again after each reset: on a machine that stands still for seconds, what happened meanwhile is only a reset. */
async function actUntil(
  streams: readonly Stream[],
  act: () => Promise<void>,
  isDone: () => boolean,
): Promise<void> {
  const resets = () => streams.flatMap((stream) => stream.received()).filter((one) => one === "reset").length;
  let seen = -1;
  await until(async () => {
    if (!isDone() && resets() !== seen) {
      seen = resets();
      await act();
    }
    return isDone();
  }, 20_000);
}
const hasAll = (stream: Stream, ...wanted: string[]) =>
  wanted.every((one) => stream.received().includes(one));

test("owners hear everything of their servers, others of those they could claim, staff of all", async () => {
  const streams = await Promise.all((["alice", "bob", "staff"] as const).map((who) => watch(first, who)));
  const [alice, bob, staff] = streams as [Stream, Stream, Stream];
  await Promise.all(streams.map((stream) => heard(stream, "reset")));
  const names = ["beacon", "free", "anvil"];
  const act = async () => {
    for (const name of names) {
      await changeWorld(name, "job");
      await publish(lifecycle, schedules.scheduleChanged, { name, id: 1, at });
      await change(name);
    }
  };
  const allOf = (name: string) => ["server", "job", "schedule"].map((type) => `${type} ${name}`);
  await actUntil(
    streams,
    act,
    () =>
      hasAll(alice, ...allOf("anvil"), "server free") &&
      hasAll(bob, ...allOf("beacon"), "server free") &&
      hasAll(staff, ...names.flatMap(allOf)),
  );
  const others = (stream: Stream, name: string) =>
    new Set(stream.received().filter((one) => one.includes(" ") && !one.endsWith(name)));
  assert.deepEqual(others(alice, "anvil"), new Set(["server free"]));
  assert.deepEqual(others(bob, "beacon"), new Set(["server free"]));
  for (const stream of streams) stream.leave();
});

test("a stream whose gateway was killed goes on at another one, and one that knows nothing says so", async () => {
  const stream = await watch(first, "alice");
  const elsewhere = await watch(second, "staff");
  await heard(stream, "reset");
  await heard(elsewhere, "reset");
  await actUntil(
    [stream],
    () => change("anvil"),
    () => hasAll(stream, "server anvil"),
  );
  const lastId = stream.lastId();
  await kill(first.child);
  await stream.ended;
  const act = async () => {
    await changeWorld("anvil", "backup");
    await changeWorld("beacon", "backup");
  };
  await actUntil([elsewhere], act, () => hasAll(elsewhere, "backup anvil", "backup beacon"));
  await until(async () => {
    const resumed = await watch(second, "alice", lastId);
    await until(() => resumed.received().some((one) => one !== "paused"), 20_000, "the stream to begin");
    const received = resumed.received();
    resumed.leave();
    assert.ok(!received.some((one) => one.endsWith("beacon")), received.join());
    return received.includes("backup anvil") && !received.includes("reset");
  }, 20_000);
  first = await startGateway();
  const fresh = await watch(first, "alice", lastId);
  await heard(fresh, "reset");
  for (const one of [elsewhere, fresh]) one.leave();
});

test("a stream stays open while NATS restarts, and resets when it is back", async () => {
  const stream = await watch(second, "alice");
  await heard(stream, "reset");
  await nats.kill();
  await nats.start();
  await until(() => stream.received().filter((one) => one === "reset").length > 1, 20_000, "the reset");
  await until(
    async () => {
      await changeWorld("anvil", "job").catch(() => {});
      return stream.received().includes("job anvil");
    },
    20_000,
    "the stream to go on",
  );
  stream.leave();
});

test("a server that changes hands is told to both, and then to its new owner alone", async () => {
  const [alice, bob] = [await watch(second, "alice"), await watch(second, "bob")];
  await heard(alice, "reset");
  await heard(bob, "reset");
  await own("anvil", "usr-bob");
  const act = async () => {
    await changeWorld("anvil", "job");
    await change("anvil");
    await change("free");
  };
  // A machine that stood still has told the change of hands as a reset.
  await until(() =>
    [alice, bob].every((one) =>
      one.received().some((received) => received === "server anvil" || received === "paused"),
    ),
  );
  await actUntil([alice, bob], act, () => hasAll(bob, "job anvil") && hasAll(alice, "server free"));
  assert.ok(!alice.received().includes("job anvil"));
  alice.leave();
  bob.leave();
});
