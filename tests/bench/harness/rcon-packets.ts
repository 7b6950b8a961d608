// What RCON is on the wire (docs/reference/console.md#rcon): a length, an id, a type and a text.

import type { Socket } from "node:net";

export function packet(id: number, type: number, body: string): Buffer {
  const text = Buffer.from(`${body}\0\0`);
  const head = Buffer.alloc(12);
  head.writeInt32LE(8 + text.length, 0);
  head.writeInt32LE(id, 4);
  head.writeInt32LE(type, 8);
  return Buffer.concat([head, text]);
}

/** Calls back with id, type and text of each whole packet. */
export function onPackets(socket: Socket, take: (id: number, type: number, body: Buffer) => void): void {
  let buffer: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
    while (buffer.length >= 4 && buffer.length >= 4 + buffer.readInt32LE(0)) {
      const end = 4 + buffer.readInt32LE(0);
      take(buffer.readInt32LE(4), buffer.readInt32LE(8), buffer.subarray(12, end - 2));
      buffer = buffer.subarray(end);
    }
  });
  socket.on("error", () => socket.destroy());
}
