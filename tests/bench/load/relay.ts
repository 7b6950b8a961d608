// Both ends of a relay in one process: a game server that floods or echoes, and the player who is joined to it.

import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import { serveParent } from "../harness/parent.ts";
import { quantile } from "../harness/statistics.ts";
import { settleMs, startServer, version } from "./join.ts";

const writeBytes = 65_536;

export type FloodPlan = { port: number; packet: "small" | "chunk"; durationMs: number };
export type Flood = { bytes: number; packets: number; seconds: number };
export type EchoPlan = { port: number; count: number };
export type Echo = { p50Us: number; p99Us: number };

const server = await startServer();

/** An entity that moves, 11 bytes on the wire; or a piece of world of 650 bytes, packed. */
function frameOf(packet: "small" | "chunk"): Buffer {
  if (packet === "small")
    return Buffer.concat([Buffer.of(10, 0, version.play.toClient.id("rel_entity_move")), Buffer.alloc(8, 1)]);
  const noise = Buffer.alloc(20_000);
  for (let at = 0; at < noise.length; at += 40) noise.writeUInt8((at * 7) & 0xff, at);
  const packed = deflateSync(Buffer.concat([Buffer.of(version.play.toClient.id("map_chunk")), noise]));
  const size = Buffer.of((20_001 & 0x7f) | 0x80, ((20_001 >> 7) & 0x7f) | 0x80, 20_001 >> 14);
  const length = size.length + packed.length;
  return Buffer.concat([Buffer.of((length & 0x7f) | 0x80, length >> 7), size, packed]);
}

async function flood({ port, packet, durationMs }: FloodPlan): Promise<Flood> {
  const { client, server: source, end } = await server.join(port);
  const frame = frameOf(packet);
  const block = Buffer.concat(new Array(Math.ceil(writeBytes / frame.length)).fill(frame));
  let bytes = 0;
  client.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  let isOver = false;
  const pour = () => {
    while (!isOver && source.write(block));
  };
  source.on("drain", pour);
  pour();
  await delay(settleMs);
  const [before, startedAt] = [bytes, performance.now()];
  await delay(durationMs);
  const [passed, seconds] = [bytes - before, (performance.now() - startedAt) / 1_000];
  isOver = true;
  end();
  return { bytes: passed, packets: passed / frame.length, seconds };
}

async function echo({ port, count }: EchoPlan): Promise<Echo> {
  const { client, server: far, end } = await server.join(port);
  far.on("data", (chunk: Buffer) => far.write(chunk));
  const ping = Buffer.concat([Buffer.of(10, 0, version.play.toServer.id("keep_alive")), Buffer.alloc(8)]);
  const tookUs: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    const startedAt = performance.now();
    client.write(ping);
    await once(client, "data");
    tookUs.push((performance.now() - startedAt) * 1_000);
  }
  end();
  const sorted = Float64Array.from(tookUs.slice(count >> 2)).sort();
  return { p50Us: quantile(sorted, 0.5), p99Us: quantile(sorted, 0.99) };
}

serveParent({ serverPort: () => server.port, flood, echo });
