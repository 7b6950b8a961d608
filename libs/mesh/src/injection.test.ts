// What a compromised service can do on NATS: proven attacks, and one for each subject that it may use. All of them
// target other services through what NATS itself delivers, which it does without checking permissions.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { connect, headers as createHeaders } from "@nats-io/transport-node";
import {
  accounts,
  contracts,
  durables,
  eventFilter,
  eventSubject,
  inboxPrefix,
  liveSubject,
  rpcSubject,
  type ServerInfo,
  servers,
  services,
  users,
} from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import type { Mesh, ViewMirror, ViewWriter } from "./api.ts";
import { createConnection } from "./connection/nats-connection.ts";
import type { Core } from "./core.ts";
import { createReplicas } from "./request/replicas.ts";
import { prepareAttacks } from "./testing/attacker.ts";
import { startTestNats, type TestNats, until } from "./testing.ts";

const forgedBy = (service: string) =>
  JSON.stringify({ username: "intruder", role: "admin", action: service, name: "intruder" });
const isRound = (text: string) => text === "first" || text.startsWith("after-");
const console = { owner: "lifecycle", noun: "console", key: "survival" } as const;
const survival: ServerInfo = {
  name: "survival",
  subdomain: "survival",
  phase: "Running",
  ready: true,
  playersOnline: 0,
  playersMax: 20,
  idleStopSeconds: 600,
  image: "registry.example/minecraft:1",
  memory: "2Gi",
  desiredState: "Running",
};
/** The subjects that an attacker targets, and the service that may publish to each. */
const targets: [subject: string, owner: string][] = [
  [rpcSubject(users.create), "nobody"],
  [
    eventSubject(accounts.sessionRevoked, { ...accounts.sessionRevoked.sample, hash: "f".repeat(64) }),
    "identity",
  ],
  ["svc.audit.identity", "identity"],
  ["svc.evt.lifecycle.server.transferred.x", "lifecycle"],
  ["$KV.servers.survival", "lifecycle"],
  [liveSubject("lifecycle", "console", "survival"), "lifecycle"],
];

describe("a compromised service", () => {
  let nats: TestNats;
  let mesh: Record<"identity" | "lifecycle" | "storage" | "gateway", Mesh>;
  let mirror: ViewMirror;
  let writer: ViewWriter<ServerInfo>;
  const seen = {
    created: 0,
    revoked: [] as string[],
    audited: [] as string[],
    moved: [] as string[],
    lines: [] as string[],
  };
  const stop = new AbortController();
  const registry = createRegistry("gateway-external", "test");
  const raw = (user: string) =>
    connect({
      servers: nats.url,
      user,
      pass: nats.passwords[user] ?? "",
      inboxPrefix: inboxPrefix(user),
    });

  before(async () => {
    nats = await startTestNats();
    const [identity, lifecycle, storage, gateway] = await Promise.all([
      nats.connect("identity"),
      nats.connect("lifecycle"),
      nats.connect("storage"),
      nats.connect("gateway-external", { registry }),
    ]);
    mesh = { identity, lifecycle, storage, gateway };
    identity.serve(users.create, () => {
      seen.created += 1;
      throw new Error("nobody asked for this");
    });
    await Promise.all([identity.announce(), lifecycle.announce()]);
    const parse = (body: unknown) => String((body as { action?: unknown }).action);
    const audit = { durable: "identity-audit", stream: "AUDIT", subjects: ["svc.audit.>"], parse };
    await identity.consume({
      ...audit,
      handle: async ({ subject, data }) => {
        // Each service may record what it likes about itself.
        if (subject !== `svc.audit.${data}`) seen.audited.push(data);
      },
    });
    const moves = { durable: "storage-transfers", stream: "LIFECYCLE", subjects: [], parse };
    await storage.consume({ ...moves, handle: async ({ data }) => void seen.moved.push(data) });
    gateway.listen(eventFilter(accounts.sessionRevoked), (subject) => void seen.revoked.push(subject));
    writer = await lifecycle.writeView(servers.servers);
    await writer.replace(new Map([["survival", survival]]));
    mirror = gateway.mirrorView(servers.servers);
    await until(() => mirror.get("survival") !== undefined);
    const subject = liveSubject(console.owner, console.noun, console.key);
    void (async () => {
      for await (const { line } of gateway.readLiveLog(
        { stream: "LIFECYCLE_LIVE", subject, tail: 0 },
        stop.signal,
      ))
        seen.lines.push(Buffer.from(line).toString());
    })();
    await until(async () => {
      await lifecycle.publishLiveLine(
        { owner: "lifecycle", noun: "console", key: "survival" },
        Buffer.from("first"),
      );
      return seen.lines.includes("first");
    });
  });
  after(async () => {
    stop.abort();
    await Promise.all(Object.values(mesh ?? {}).map((each) => each.drain(500)));
    await nats?.stop();
  });

  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  /** Once this has arrived, everything sent to the targets before has arrived too. */
  async function settle(round: string, service: string): Promise<void> {
    const { identity, lifecycle } = mesh;
    const revoked = eventSubject(accounts.sessionRevoked, accounts.sessionRevoked.sample);
    await identity.publish([{ id: round, subject: revoked, body: encode(accounts.sessionRevoked.sample) }]);
    const moved = {
      id: round,
      subject: "svc.evt.lifecycle.server.transferred.y",
      body: encode({ action: round }),
    };
    await lifecycle.publish([moved]);
    identity.audit({ action: round, actor: "svc", source: "scheduler" });
    await lifecycle.publishLiveLine(
      { owner: "lifecycle", noun: "console", key: "survival" },
      Buffer.from(round),
    );
    await writer.put("survival", { ...survival, memory: round });
    await until(() => seen.lines.includes(round));
    // A service that pulls from its own consumer has already taken its messages.
    if (!pulls(service)) await until(() => seen.audited.includes(round));
    if (!pulls(service)) await until(() => seen.moved.includes(round));
    await until(() => Buffer.from(mirror.get("survival") ?? []).includes(`"${round}"`));
    await until(() => seen.revoked.includes(revoked));
    seen.revoked.splice(0);
  }

  // What an attacker has pulled reaches the real service only after the acknowledgement wait: those come last.
  const pulls = (service: string) => durables.some((durable) => durable.service === service);
  const inOrder = [...services].sort((one, other) => Number(pulls(one)) - Number(pulls(other)));
  for (const service of inOrder) {
    test(`as ${service} answers of NATS reach nothing of another service`, async () => {
      const connection = await raw(service);
      let isWatching = true;
      const shown = new Set<string>();
      const watching = (async () => {
        while (isWatching) {
          shown.add(Buffer.from(mirror.get("survival") ?? []).toString());
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      try {
        const attacks = await prepareAttacks(connection, service, forgedBy(service));
        assert.ok(attacks.length > 1);
        for (const [target, owner] of targets)
          if (owner !== service) for (const { run } of attacks) run(target);
        await connection.flush();
        await settle(`after-${service}`, service);
      } finally {
        isWatching = false;
        await watching;
        await connection.close();
      }
      assert.equal(seen.created, 0, "an account was created");
      assert.deepEqual(seen.revoked, []);
      assert.deepEqual(
        seen.audited.filter((action) => !isRound(action)),
        [],
      );
      assert.deepEqual(
        seen.moved.filter((action) => !isRound(action)),
        [],
      );
      assert.deepEqual(
        seen.lines.filter((line) => !isRound(line)),
        [],
      );
      for (const value of shown) if (value !== "") assert.equal(JSON.parse(value).name, "survival");
    });

    test(`as ${service} no consumer delivers to, and no stream listens on, subjects of requests and answers`, async () => {
      const connection = await raw(service);
      const asked = rpcSubject(users.create);
      const consumer = { deliver_subject: asked, ack_policy: "none", deliver_policy: "all" };
      const attempts: [verb: string, body: object][] = [
        ["STREAM.CREATE.MINE", { name: "MINE", subjects: ["_INBOX_gateway_external.>"], storage: "memory" }],
        ["STREAM.CREATE.MINE", { name: "MINE", subjects: ["svc.rpc.>"], storage: "memory", no_ack: true }],
        ["STREAM.CREATE.MINE", { name: "MINE", sources: [{ name: "KV_servers" }], storage: "memory" }],
        ["STREAM.UPDATE.LIFECYCLE", { name: "LIFECYCLE", subjects: ["svc.evt.lifecycle.>", asked] }],
        ...["AUDIT", "IDENTITY", "LIFECYCLE_LIVE", "BUILDS_LIVE", "STORAGE", "KV_servers"].map(
          (stream): [string, object] => [
            `CONSUMER.CREATE.${stream}`,
            { stream_name: stream, config: consumer },
          ],
        ),
      ];
      for (const [verb, body] of attempts) {
        await assert.rejects(
          connection.request(`$JS.API.${verb}`, JSON.stringify(body), { timeout: 5_000 }),
          /permissions violation/i,
          verb,
        );
      }
      await connection.close();
      assert.equal(seen.created, 0);
    });
  }

  test("ignored messages are counted by stream", async () => {
    const metrics = await registry.metrics();
    for (const stream of ["KV_servers", "LIFECYCLE_LIVE"])
      assert.match(metrics, new RegExp(`svc_mesh_foreign_messages_total\\{[^}]*"${stream}"[^}]*\\} [1-9]`));
  });

  test("nobody can suppress an event by storing its id first", async () => {
    const connection = await raw("builds");
    const headers = createHeaders();
    headers.set("Nats-Msg-Id", "identity-4711");
    headers.set("Svc-Publisher", "identity");
    const line = liveSubject("builds", "log", "silencer");
    await connection.request(line, "x", { headers, timeout: 5_000 });
    const target = "svc.evt.identity.session.revoked.silenced";
    connection.publish(`$JS.API.DIRECT.GET.BUILDS_LIVE.${line}`, "", { reply: target });
    await connection.flush();
    const operator = await nats.connect("operator");
    const received: string[] = [];
    const reader = operator.follow({
      ...{ stream: "IDENTITY", subject: target, since: new Date(Date.now() - 60_000) },
      onEvent: ({ data }) => received.push(JSON.stringify(data)),
    });
    try {
      const body = encode({ n: 1 });
      await mesh.identity.publish([{ id: "identity-4711", subject: target, body }]);
      await until(() => received.length > 0);
      assert.deepEqual(received, ['{"n":1}']);
    } finally {
      await reader.close();
      await Promise.all([operator.drain(200), connection.close()]);
    }
  });

  test("no replica appears or leaves because of an answer of NATS", async () => {
    const connection = await raw("builds");
    const watching = await raw("gateway-external");
    const replicaConnection = createConnection(watching, createLogger("test", "silent"), "gateway-external");
    const replicas = createReplicas({ connection: replicaConnection } as Core);
    await until(() => replicas.pick("lifecycle", new Set()) !== undefined);
    const genuine = replicas.pick("lifecycle", new Set());
    for (const { run } of await prepareAttacks(connection, "builds", "leaving"))
      for (const instance of ["ghost", String(genuine)]) run(`svc.replica.lifecycle.${instance}`);
    await connection.flush();
    await watching.flush();
    for (let times = 0; times < 4; times++)
      assert.equal(replicas.pick("lifecycle", new Set()), genuine, "lifecycle has one replica");
    replicas.close();
    await replicaConnection.close();
    await connection.close();
  });

  test("nobody can answer for another: one request does not reveal the inbox of the next", async () => {
    const connection = await raw("lifecycle");
    const replies: string[] = [];
    const asked = contracts.find(
      ({ owner, callers }) => owner === "lifecycle" && callers.includes("gateway-external"),
    );
    assert.ok(asked);
    connection.subscribe(rpcSubject(asked), {
      callback: (_, { reply }) => void replies.push(reply ?? ""),
    });
    await connection.flush();
    const ask = () => mesh.gateway.call(asked, {}, { deadlineAt: Date.now() + 300 }).catch(() => {});
    await Promise.all([ask(), ask(), ask()]);
    await connection.close();
    const tokens = replies.map((reply) => reply.slice(reply.lastIndexOf(".") + 1));
    assert.ok(tokens.length >= 3);
    assert.equal(new Set(tokens).size, tokens.length);
    for (const token of tokens) assert.ok(Buffer.from(token, "base64url").length >= 12, token);
  });
});
