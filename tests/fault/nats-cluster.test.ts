// NATS as three servers, as the values `ha` ship it: one may die, its leader too, without an event that is lost.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { until } from "@svc/local-stack/testing";
import { migrateStreams } from "@svc/mesh/migrate";
import { inboxPrefix } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { connectMesh, type Mesh } from "../../libs/mesh/src/index.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

const stream = "IDENTITY";
const subject = "svc.evt.identity.account.retired.someone";

describe("a cluster of three NATS servers", () => {
  let cluster: NatsCluster;
  let manager: NatsConnection;
  let identity: Mesh;

  before(async () => {
    cluster = await startNatsCluster();
    const password = cluster.passwords["migrate"] ?? "";
    const migrate = () =>
      migrateStreams({ url: cluster.url, user: "migrate", password, replicas: 3 }).then(
        () => true,
        () => false,
      );
    // The servers elect a leader first.
    await until(migrate, 60_000, "streams on three servers");
    manager = await connect({
      servers: cluster.urls,
      user: "migrate",
      pass: password,
      inboxPrefix: inboxPrefix("migrate"),
    });
    identity = await connectMesh({
      service: "identity",
      url: cluster.url,
      user: "identity",
      password: cluster.passwords["identity"] ?? "",
      log: createLogger("identity", "silent"),
      version: "0.0.1",
    });
  });
  after(async () => {
    await identity?.drain(500);
    await manager?.close();
    await cluster?.stop();
  });

  const stateOf = async () => (await jetstreamManager(manager, { checkAPI: false })).streams.info(stream);
  const publish = (id: string) =>
    identity.publish([{ id, subject, body: Buffer.from("{}") }]).then(
      () => true,
      () => false,
    );

  test("every stream is stored three times", async () => {
    const { streams } = await jetstreamManager(manager, { checkAPI: false });
    const found: string[] = [];
    for await (const { config } of streams.list()) if (config.num_replicas !== 3) found.push(config.name);
    assert.deepEqual(found, []);
  });

  test("a service goes on when its server and then the leader of its stream die", async () => {
    await until(() => publish("first"), 30_000, "a first event");
    // The first that accepts is the one that identity is connected to.
    await cluster.kill(0);
    await until(() => publish("while-the-first-is-down"), 60_000, "an event without the first server");
    cluster.start(0);
    const isWhole = async () => {
      const { cluster: peers } = await stateOf();
      return peers?.leader !== undefined && peers.replicas?.every(({ current }) => current) === true;
    };
    await until(() => isWhole().catch(() => false), 60_000, "three servers that have everything");
    const leader = (await stateOf()).cluster?.leader ?? "";
    await cluster.kill(Number(leader.replace("nats-", "")));
    await until(() => publish("while-the-leader-is-down"), 60_000, "an event without the leader");
    const stored = () => stateOf().then(({ state }) => state.messages);
    await until(() => stored().then(Boolean, () => false), 60_000, "the stream's state");
    assert.equal(await stored(), 3, "each event is stored once");
  });
});
