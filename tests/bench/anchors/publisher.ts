// Bare JetStream publish with 100 in flight to a stream in files with one replica: the anchor of the outbox drain.

import { jetstream, jetstreamManager, StorageType } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { need, serveParent } from "../harness/parent.ts";

const inFlight = 100;
const nats = await connect({
  servers: need("ANCHOR_NATS_URL"),
  user: need("ANCHOR_NATS_USER"),
  pass: need("ANCHOR_NATS_PASSWORD"),
});
const manager = await jetstreamManager(nats);
await manager.streams.add({ name: "ANCHOR", subjects: ["anchor.evt.>"], storage: StorageType.File });
const stream = jetstream(nats);

async function publish(plan: { count: number; body: string }): Promise<{ perSecond: number }> {
  const body = Buffer.from(plan.body);
  const startedAt = performance.now();
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < plan.count; index = next++) await stream.publish("anchor.evt.one", body);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { perSecond: plan.count / ((performance.now() - startedAt) / 1_000) };
}

serveParent({ publish });
