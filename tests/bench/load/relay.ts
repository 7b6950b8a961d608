// Both ends of a relay in one process: a game server that floods or echoes, and the player who is joined to it.

import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import { type Connection, dial, findVersion, listen, offlineUuid, type Player } from "@svc/minecraft";
import { quantile } from "../harness/numbers.ts";
import { serveParent } from "../harness/parent.ts";

const found = findVersion(769);
if (!found) throw new Error("there is no 1.21.4");
const version = found;
const settleMs = 300;
const writeBytes = 65_536;

export type FloodPlan = { port: number; packet: "small" | "chunk"; durationMs: number };
export type Flood = { bytes: number; packets: number; seconds: number };
export type EchoPlan = { port: number; count: number };
export type Echo = { p50Us: number; p99Us: number };

const arrivals: ((player: Player) => void)[] = [];
const server = await listen({
  ...{ host: "127.0.0.1", port: 0, trust: { kind: "offline" } },
  status: () => ({ description: "bench", playersOnline: 0, playersMax: 1 }),
  onPlayer: async (player) => {
    player.connection.send(version.configuration.toClient.id("finish_configuration"));
    await player.connection.next();
    arrivals.shift()?.(player);
  },
});

/** Joins through the relay on `port`: the player's end and the server's, both in play. */
async function meet(port: number): Promise<{ client: Socket; server: Socket; end: () => void }> {
  const arrived = new Promise<Player>((resolve) => arrivals.push(resolve));
  const profile = { uuid: offlineUuid("Bench"), name: "Bench", properties: [] };
  const client = await dial(
    { name: "relay", host: "127.0.0.1", port },
    { version, profile, address: "127.0.0.1" },
  );
  const finish = version.configuration.toClient.id("finish_configuration");
  for (let packet = await client.next(); packet.id !== finish; packet = await client.next());
  client.send(version.configuration.toServer.id("finish_configuration"));
  const far = (await arrived).connection;
  const bare = ({ socket }: Connection) => {
    socket.removeAllListeners("data").removeAllListeners("drain");
    return socket.resume();
  };
  const ends = { client: bare(client), server: bare(far) };
  // Without a listener a resumed socket throws its bytes away; what the relay still says on the way in goes there.
  await delay(settleMs);
  const end = () => {
    client.destroy();
    far.destroy();
  };
  return { ...ends, end };
}

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
  const { client, server: source, end } = await meet(port);
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
  const { client, server: far, end } = await meet(port);
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
