// The users and permissions that proto generates, on a real nats-server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import {
  accounts,
  auditSubject,
  contracts,
  deadSubject,
  instanceFilter,
  instanceSubject,
  natsUsers,
  permissionsOf,
  replicaSubject,
  rpcSubject,
  services,
} from "@svc/proto";
import { allStreams } from "./stream/catalog.ts";
import { startTestNats, type TestNats } from "./testing.ts";

let nats: TestNats;
const connections = new Map<string, NatsConnection>();

before(async () => {
  nats = await startTestNats();
  for (const user of natsUsers) {
    const connection = await connect({
      servers: nats.url,
      user,
      pass: nats.passwords[user] ?? "",
      inboxPrefix: `_INBOX_${user.replaceAll("-", "_")}`,
    });
    connections.set(user, connection);
  }
});
after(async () => {
  for (const connection of connections.values()) await connection.close();
  await nats?.stop();
});

// The server reports a denial asynchronously; a flush after the attempt waits for it.
async function refusals(user: string, attempt: (connection: NatsConnection) => void): Promise<string[]> {
  const connection = connections.get(user)!;
  const refused: string[] = [];
  const statuses = connection.status();
  const reading = (async () => {
    for await (const status of statuses) {
      if (status.type === "error") refused.push(status.error.message);
    }
  })();
  attempt(connection);
  await connection.flush();
  await connection.flush();
  (statuses as unknown as { stop: () => void }).stop();
  await reading;
  return refused;
}

async function mayPublish(user: string, subject: string): Promise<boolean> {
  return (await refusals(user, (connection) => connection.publish(subject, "x"))).length === 0;
}

async function maySubscribe(user: string, subject: string): Promise<boolean> {
  const found = await refusals(user, (connection) => {
    connection.subscribe(subject, { callback: () => {} });
  });
  return found.length === 0;
}

test("every contract may be called by its callers and by nobody else", async () => {
  const users = [...services];
  for (const user of users) {
    const wanted = contracts.flatMap((contract) =>
      [rpcSubject(contract), instanceSubject(contract, "0a1b")].map((subject) => ({
        subject,
        may: contract.callers.includes(user),
      })),
    );
    const found = await refusals(user, (connection) => {
      for (const { subject } of wanted) connection.publish(subject, "x");
    });
    const refused = wanted.filter(({ may }) => !may).length;
    assert.equal(found.length, refused, `${user}: ${found.length} refused, ${refused} expected`);
  }
});

test("lifecycle cannot call an operation that only the external gateway may", async () => {
  const contract = contracts.find(
    ({ callers, owner }) => callers.includes("gateway-external") && owner === "identity",
  );
  assert.ok(contract, `identity has operations: ${Object.keys(accounts).length}`);
  assert.equal(await mayPublish("lifecycle", rpcSubject(contract)), false);
  assert.equal(await mayPublish("gateway-external", rpcSubject(contract)), true);
});

test("a service cannot answer another's requests", async () => {
  assert.equal(await maySubscribe("storage", "svc.rpc.lifecycle.>"), false);
  assert.equal(await maySubscribe("gateway-external", "svc.rpc.identity.>"), false);
  assert.equal(await maySubscribe("lifecycle", "svc.rpc.lifecycle.server.list"), true);
  assert.equal(await maySubscribe("storage", instanceFilter("lifecycle", "0a1b")), false);
  assert.equal(await maySubscribe("lifecycle", instanceFilter("lifecycle", "0a1b")), true);
});

test("only an owner announces its replicas, and only its callers and itself hear it", async () => {
  const replica = replicaSubject("identity", "0a1b");
  for (const user of services) {
    const isCaller = contracts.some(({ owner, callers }) => owner === "identity" && callers.includes(user));
    assert.equal(await mayPublish(user, replica), user === "identity", user);
    assert.equal(
      await maySubscribe(user, replicaSubject("identity", "*")),
      isCaller || user === "identity",
      user,
    );
  }
});

test("a service cannot publish another's events, lines, audit or dead letters", async () => {
  assert.equal(await mayPublish("lifecycle", "svc.evt.storage.backup.created.x"), false);
  assert.equal(await mayPublish("lifecycle", "svc.evt.lifecycle.server.phase-changed.x"), true);
  assert.equal(await mayPublish("storage", "svc.live.lifecycle.console.x"), false);
  assert.equal(await mayPublish("storage", auditSubject("identity")), false);
  assert.equal(await mayPublish("storage", auditSubject("storage")), true);
  assert.equal(await mayPublish("storage", deadSubject("identity", "identity-audit")), false);
  assert.equal(await mayPublish("gateway-external", "svc.evt.identity.session.revoked.x"), false);
});

test("a service cannot read another's inbox", async () => {
  assert.equal(await maySubscribe("lifecycle", "_INBOX_identity.>"), false);
  assert.equal(await maySubscribe("lifecycle", "_INBOX.>"), false);
  assert.equal(await maySubscribe("lifecycle", ">"), false);
  assert.equal(await maySubscribe("lifecycle", "_INBOX_lifecycle.>"), true);
  assert.equal(await maySubscribe("gateway-internal", "_INBOX_gateway_external.>"), false);
});

test("a service cannot write another's views", async () => {
  assert.equal(await mayPublish("gateway-internal", "$KV.servers.survival"), false);
  assert.equal(await mayPublish("storage", "$KV.servers.survival"), false);
  assert.equal(await mayPublish("lifecycle", "$SYS.REQ.SERVER.PING"), false);
});

const streamVerbs = ["CREATE", "UPDATE", "DELETE", "PURGE", "MSG.GET", "MSG.DELETE", "SNAPSHOT", "RESTORE"];
const consumerVerbs = ["CREATE", "DURABLE.CREATE", "DELETE", "PAUSE", "RESET", "UNPIN", "LEADER.STEPDOWN"];

test("a service may look up its streams, read them and fetch by name, and nothing else of JetStream", async () => {
  const streams = [...allStreams().map(({ name }) => name), "MINE"];
  const verbs = [
    ...streamVerbs.map((verb) => (stream: string) => `$JS.API.STREAM.${verb}.${stream}`),
    ...consumerVerbs.flatMap((verb) => [
      (stream: string) => `$JS.API.CONSUMER.${verb}.${stream}`,
      (stream: string) => `$JS.API.CONSUMER.${verb}.${stream}.mine`,
      (stream: string) => `$JS.API.CONSUMER.${verb}.${stream}.identity-audit`,
      (stream: string) => `$JS.API.CONSUMER.${verb}.${stream}.mine.svc.rpc.identity.user.create`,
    ]),
  ];
  const all = verbs.flatMap((verb) => streams.map(verb));
  for (const user of [...services, "operator"]) {
    const isAllowed = (subject: string) => user === "operator" && subject.includes(".STREAM.MSG.GET.");
    const wanted = all.filter((subject) => !isAllowed(subject)).length;
    const found = await refusals(user, (connection) => {
      for (const subject of all) connection.publish(subject, "{}");
    });
    assert.equal(found.length, wanted, user);
  }
  const kept = services.flatMap((service) => permissionsOf(service).publish);
  const shapes =
    /^\$JS\.(API\.(INFO|STREAM\.INFO\.[\w-]+|DIRECT\.GET\..+|CONSUMER\.(INFO|MSG\.NEXT)\.\w+\.\S+)|ACK\..+)$/;
  for (const subject of kept.filter((one) => one.startsWith("$JS."))) {
    assert.match(subject.replace("KV_", ""), shapes);
    assert.ok(!/[*>]/.test(subject.replace(/\.>$/, "")), subject);
  }
});

test("a service cannot answer the services protocol for another", async () => {
  assert.equal(await maySubscribe("storage", "$SRV.PING.identity"), false);
  assert.equal(await maySubscribe("storage", "$SRV.>"), false);
  assert.equal(await maySubscribe("storage", "$SRV.STATS.storage.abc"), true);
});

test("only the external gateway hears revoked sessions", async () => {
  const subject = "svc.evt.identity.session.revoked.*";
  assert.equal(await maySubscribe("gateway-external", subject), true);
  assert.equal(await maySubscribe("storage", subject), false);
});

test("the operator follows events and may not act as a service", async () => {
  assert.equal(await maySubscribe("operator", "svc.evt.>"), true);
  assert.equal(await mayPublish("operator", "svc.rpc.lifecycle.server.list"), false);
  assert.equal(await mayPublish("operator", "svc.evt.lifecycle.server.phase-changed.x"), false);
});

test("no permission is a wildcard over all subjects", () => {
  for (const service of services) {
    const { publish, subscribe } = permissionsOf(service);
    for (const subject of [...publish, ...subscribe]) {
      assert.doesNotMatch(subject, /^(>|\*|svc\.>|\$JS\.>|\$JS\.API\.>|\$KV\.>)$/, `${service}: ${subject}`);
    }
  }
});
