import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { inboxPrefix, replicaSubject, type ServiceName } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { createConnection } from "../connection/nats-connection.ts";
import type { Core } from "../core.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";
import { announceReplica, createReplicas } from "./replicas.ts";

let nats: TestNats;
const open: { close: () => Promise<void> }[] = [];

before(async () => {
  nats = await startTestNats();
});
after(async () => {
  await Promise.all(open.map((connection) => connection.close()));
  await nats?.stop();
});

async function coreOf(service: ServiceName, instance: string): Promise<Core> {
  const client = await connect({
    servers: nats.url,
    user: service,
    pass: nats.passwords[service] ?? "",
    inboxPrefix: inboxPrefix(service),
  });
  const connection = createConnection(client, createLogger("test", "silent"), service);
  open.push(connection);
  return { connection, service, instance } as Core;
}

test("a replica without others says so rarely, is chosen all the time, and beats again once it hears one", async () => {
  const gateway = await coreOf("gateway-external", "gateway");
  const heard: string[] = [];
  gateway.connection.subscribe(replicaSubject("lifecycle", "*"), ({ subject, data }) => {
    heard.push(`${subject.split(".").at(-1)} ${Buffer.from(data)}`);
  });
  const replicas = createReplicas(gateway);
  replicas.pick("lifecycle", new Set());
  await gateway.connection.client.flush();
  const leaveFirst = announceReplica(await coreOf("lifecycle", "first"), 300);
  const timesAlone = () => heard.filter((line) => line === "first alone").length;
  await until(() => timesAlone() === 1);
  await until(() => {
    assert.equal(replicas.pick("lifecycle", new Set()), "first");
    return timesAlone() === 2;
  });
  assert.equal(heard.at(-1), "first alone");

  heard.length = 0;
  const leaveSecond = announceReplica(await coreOf("lifecycle", "second"));
  await until(() => heard.filter((line) => line === "first serving").length >= 2);
  assert.equal(timesAlone(), 0);
  const chosen = [1, 2].map(() => replicas.pick("lifecycle", new Set()));
  assert.deepEqual(chosen.sort(), ["first", "second"]);

  leaveSecond();
  await until(() => timesAlone() === 1);
  leaveFirst();
  await until(() => replicas.pick("lifecycle", new Set()) === undefined);
  replicas.close();
});
