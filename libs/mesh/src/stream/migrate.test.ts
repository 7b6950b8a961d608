import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { buckets, servers, uploads } from "@svc/proto";
import { startTestNats, type TestNats, until } from "../testing.ts";
import { allStreams } from "./catalog.ts";

let nats: TestNats;
before(async () => {
  nats = await startTestNats();
});
after(() => nats?.stop());

async function ask<T>(verb: string, body?: object): Promise<T> {
  const user = "migrate";
  const pass = nats.passwords[user] ?? "";
  const connection = await connect({ servers: nats.url, user, pass, inboxPrefix: "_INBOX_migrate" });
  const reply = await connection.request(`$JS.API.${verb}`, body && JSON.stringify(body), { timeout: 5_000 });
  await connection.close();
  return reply.json<T>();
}

type Info = { config: Record<string, unknown>; state: { messages: number }; error?: object };

test("streams of an older version are updated and keep their messages", async () => {
  const names = [`KV_${servers.servers.name}`, `KV_${uploads.uploaders.name}`];
  for (const name of names) {
    await ask(`STREAM.DELETE.${name}`);
    const made = await ask<Info>(`STREAM.CREATE.${name}`, {
      name,
      subjects: [`$KV.${name.slice(3)}.>`],
      storage: "file",
      discard: "new",
      max_msgs_per_subject: 1,
      max_bytes: 1_048_576,
      allow_direct: true,
      allow_rollup_hdrs: true,
      allow_msg_ttl: true,
      deny_delete: true,
    });
    assert.equal(made.error, undefined, JSON.stringify(made.error));
  }
  const user = "lifecycle";
  const owner = await connect({ servers: nats.url, user, pass: nats.passwords[user] ?? "" });
  owner.publish("$KV.servers.survival", "{}");
  await owner.flush();
  await owner.close();
  await until(async () => (await ask<Info>("STREAM.INFO.KV_servers")).state.messages === 1);
  assert.deepEqual(
    await nats.migrate(),
    names.map((name) => `stream ${name}: changed`),
  );
  const view = await ask<Info>("STREAM.INFO.KV_servers");
  assert.equal(view.state.messages, 1);
  assert.ok(!view.config["allow_rollup_hdrs"], "the header of a foreign message could empty it");
  assert.equal(view.config["max_bytes"], 256 * 1_048_576);
  assert.deepEqual(await nats.migrate(), []);
});

test("only the buckets of one service take rollups: with that header it could empty those of another", () => {
  const rolling = allStreams().filter((stream) => stream.allow_rollup_hdrs);
  assert.ok(rolling.length > 0);
  const ofBucket = (name: string) => buckets.find((bucket) => name === `KV_${bucket.name}`)?.owner;
  assert.deepEqual([...new Set(rolling.map(({ name }) => ofBucket(name)))], ["storage"]);
});

test("two concurrent migrations both succeed", async () => {
  await ask("STREAM.DELETE.STORAGE");
  await ask("CONSUMER.DELETE.AUDIT.identity-audit");
  await Promise.all([nats.migrate(), nats.migrate()]);
  assert.deepEqual(await nats.migrate(), []);
});

test("a service whose stream is missing does not start, and says what to do", async () => {
  await ask("STREAM.DELETE.STORAGE_LIVE");
  await assert.rejects(nats.connect("storage"), {
    message: "NATS has no stream STORAGE_LIVE: run `svc migrate up`",
  });
  const other = await nats.connect("builds");
  await other.drain(200);
  assert.deepEqual(await nats.migrate(), ["stream STORAGE_LIVE: made"]);
  await (await nats.connect("storage")).drain(200);
});
