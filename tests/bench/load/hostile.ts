// Game servers that mean harm, and the players who are joined to them: each sends what costs a relay most, as fast as it is
// read. The players throw away what comes.

import { deflateSync } from "node:zlib";
import { serveParent } from "../harness/parent.ts";
import { type Joined, startServer, version } from "./join.ts";

// Below the player's own threshold, so that what is compressed for one is not so for the other.
const server = await startServer(64);
const writeBytes = 65_536;
const { toClient } = version.play;

const varint = (value: number): Buffer =>
  value < 0x80 ? Buffer.of(value) : Buffer.concat([Buffer.of((value & 0x7f) | 0x80), varint(value >>> 7)]);
const framed = (content: Buffer) => Buffer.concat([varint(content.length), content]);
const packed = (id: string, fields: Buffer) => {
  const body = Buffer.concat([varint(toClient.id(id)), fields]);
  return framed(Buffer.concat([varint(body.length), deflateSync(body)]));
};

const harms: Record<string, Buffer> = {
  "frames of 8 kB that inflate to 8 MiB": packed("map_chunk", Buffer.alloc(8_388_600)),
  "frames of 2 kB that inflate to 2 MiB": packed("map_chunk", Buffer.alloc(2_000_000)),
  "packets that are compressed for one and not for the other": packed("rel_entity_move", Buffer.alloc(150)),
  "packets that are looked at": framed(
    Buffer.concat([varint(0), varint(toClient.id("custom_payload")), Buffer.of(3), Buffer.from("a:b")]),
  ),
};

let bystanders: (Joined & { stop: () => void })[] = [];

async function attack(port: number): Promise<void> {
  for (const frame of Object.values(harms)) {
    const joined = await server.join(port);
    const block = Buffer.concat(new Array<Buffer>(Math.ceil(writeBytes / frame.length)).fill(frame));
    let isOver = false;
    const pour = () => {
      while (!isOver && !joined.server.destroyed && joined.server.write(block));
    };
    for (const socket of [joined.client, joined.server]) socket.on("error", () => {});
    joined.server.on("drain", pour);
    pour();
    const stop = () => {
      isOver = true;
      joined.end();
    };
    bystanders.push({ ...joined, stop });
  }
}

serveParent({
  serverPort: () => server.port,
  attack,
  calm: () => {
    for (const { stop } of bystanders) stop();
    bystanders = [];
  },
});
