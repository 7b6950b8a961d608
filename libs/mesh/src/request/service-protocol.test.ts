import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { contractsOf, owners } from "@svc/proto";
import type { Mesh } from "../api.ts";
import { change, read } from "../testing/contracts.ts";
import { startTestNats, type TestNats } from "../testing.ts";

let nats: TestNats;
let lifecycle: Mesh;
let gateway: Mesh;
let operator: NatsConnection;

before(async () => {
  nats = await startTestNats();
  lifecycle = await nats.connect("lifecycle");
  gateway = await nats.connect("gateway-internal");
  lifecycle.serve(read, (_, input) => input);
  lifecycle.serve(change, (context) => {
    throw context.fault("not_found");
  });
  await lifecycle.announce();
  operator = await connect({
    servers: nats.url,
    user: "operator",
    pass: nats.passwords["operator"] ?? "",
    inboxPrefix: "_INBOX_operator",
  });
});
after(async () => {
  await operator?.close();
  await gateway?.drain();
  await lifecycle?.drain();
  await nats?.stop();
});

type Pong = { type: string; name: string; id: string; version: string };
type Endpoint = { name: string; subject: string; queue_group: string; metadata: Record<string, string> };
type Stats = Endpoint & {
  num_requests: number;
  num_errors: number;
  last_error: string;
  processing_time: number;
  average_processing_time: number;
};

async function ask<T>(subject: string): Promise<T> {
  return (await operator.request(subject, "", { timeout: 2_000 })).json<T>();
}

test("PING is answered for all, by name and by id", async () => {
  const pong = await ask<Pong>("$SRV.PING");
  assert.equal(pong.type, "io.nats.micro.v1.ping_response");
  assert.equal(pong.name, "lifecycle");
  assert.match(pong.version, /^\d+\.\d+\.\d+$/);
  assert.deepEqual(await ask<Pong>("$SRV.PING.lifecycle"), pong);
  assert.deepEqual(await ask<Pong>(`$SRV.PING.lifecycle.${pong.id}`), pong);
  await assert.rejects(operator.request("$SRV.PING.storage", "", { timeout: 500 }), /no responders/i);
});

test("INFO lists one endpoint per operation with queue group and schema", async () => {
  const info = await ask<{ type: string; description: string; endpoints: Endpoint[] }>("$SRV.INFO.lifecycle");
  assert.equal(info.type, "io.nats.micro.v1.info_response");
  assert.deepEqual(info.endpoints.map(({ name }) => name).sort(), [
    "server-read-status",
    "server-report-join",
  ]);
  const endpoint = info.endpoints.find(({ name }) => name === "server-read-status");
  assert.equal(endpoint?.subject, "svc.rpc.lifecycle.server.read-status");
  assert.equal(endpoint?.queue_group, "lifecycle");
  assert.match(endpoint?.metadata["request_schema"] ?? "", /"properties":\{"n"/);
  for (const value of Object.values(endpoint?.metadata ?? {})) assert.equal(typeof value, "string");
});

test("STATS counts requests, errors and time, and keeps the last error", async () => {
  await gateway.call(read, { n: 1 });
  await gateway.call(read, { n: 2 });
  await gateway.call(change, { n: 2 }).catch(() => {});
  const stats = await ask<{ type: string; started: string; endpoints: Stats[] }>("$SRV.STATS.lifecycle");
  assert.equal(stats.type, "io.nats.micro.v1.stats_response");
  assert.ok(!Number.isNaN(Date.parse(stats.started)));
  const of = (name: string) => stats.endpoints.find((endpoint) => endpoint.name === name);
  assert.equal(of("server-read-status")?.num_requests, 2);
  assert.equal(of("server-read-status")?.num_errors, 0);
  assert.equal(of("server-read-status")?.last_error, "");
  assert.ok((of("server-read-status")?.processing_time ?? 0) > 0);
  assert.equal(
    of("server-read-status")?.average_processing_time,
    Math.round((of("server-read-status")?.processing_time ?? 0) / 2),
  );
  assert.equal(of("server-report-join")?.num_errors, 1);
  assert.match(of("server-report-join")?.last_error ?? "", /^not_found: /);
});

test("every owner can describe all of its operations in one message", async () => {
  for (const owner of owners.filter((name) => name !== "lifecycle")) {
    const mesh = await nats.connect(owner);
    for (const contract of contractsOf(owner)) mesh.serve(contract, () => null);
    await mesh.announce();
    const info = await ask<{ endpoints: Endpoint[] }>(`$SRV.INFO.${owner}`);
    assert.equal(info.endpoints.length, contractsOf(owner).length);
    for (const { name, metadata } of info.endpoints) {
      assert.match(name, /^[A-Za-z0-9_-]+$/);
      assert.ok(metadata["request_schema"], `${owner} ${name} has no schema`);
    }
    await mesh.drain();
  }
});
