import { RconError } from "./errors.ts";

/** Type numbers of the protocol; 2 means "command" from a client and "auth answer" from a server. */
export const packetType = { reply: 0, command: 2, authReply: 2, auth: 3, terminator: 99 } as const;

/** Largest body of one frame that a server sends; longer replies are cut here, in the middle of a character if need be. */
export const frameBodyBytes = 4096;

/** Largest body of a request: vanilla reads a request into 1460 bytes, 14 of which are the frame's own. */
export const requestBodyBytes = 1446;

export type Packet = { readonly id: number; readonly type: number; readonly body: Buffer };

const overheadBytes = 10;

export function encodePacket({ id, type, body }: Packet): Buffer {
  const frame = Buffer.alloc(4 + overheadBytes + body.length);
  frame.writeInt32LE(overheadBytes + body.length, 0);
  frame.writeInt32LE(id, 4);
  frame.writeInt32LE(type, 8);
  body.copy(frame, 12);
  return frame;
}

type ReaderOptions = { readonly maxBodyBytes: number; readonly onPacket: (packet: Packet) => void };

/**
 * Cuts a TCP stream into packets, whatever the sizes of its chunks. Chunks are joined only when a whole
 * frame is there, so a stream that arrives byte by byte costs no more copies than one that arrives at once.
 * The returned function throws `RconError` `protocol` on a length that no frame can have.
 */
export function createPacketReader({ maxBodyBytes, onPacket }: ReaderOptions): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let heldBytes = 0;
  let wantedBytes = 4;

  return (chunk) => {
    chunks.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < wantedBytes) return;
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks, heldBytes);
    const packets: Packet[] = [];
    wantedBytes = 4;
    while (rest.length >= 4) {
      const length = readLength(rest, maxBodyBytes);
      wantedBytes = 4 + length;
      if (rest.length < wantedBytes) break;
      packets.push(decodePacket(rest, length));
      rest = rest.subarray(wantedBytes);
      wantedBytes = 4;
    }
    chunks = rest.length > 0 ? [rest] : [];
    heldBytes = rest.length;
    for (const packet of packets) onPacket(packet);
  };
}

function readLength(buffer: Buffer, maxBodyBytes: number): number {
  const length = buffer.readInt32LE(0);
  if (length >= overheadBytes && length <= maxBodyBytes + overheadBytes) return length;
  throw new RconError(
    "protocol",
    `The other side sent a frame of ${length} bytes; RCON allows ${overheadBytes} to ${maxBodyBytes + overheadBytes}. Is this the RCON port?`,
  );
}

function decodePacket(buffer: Buffer, length: number): Packet {
  return { id: buffer.readInt32LE(4), type: buffer.readInt32LE(8), body: buffer.subarray(12, length + 2) };
}
