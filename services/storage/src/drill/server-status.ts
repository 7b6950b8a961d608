// Asks a Minecraft server for its status, as a client's server list does (wiki.vg: Server List Ping).

import { connect, type Socket } from "node:net";
import { text as textOf, varInt } from "./var-int.ts";

type ServerStatus = { version: string; online: number };

const largestAnswer = 1_048_576;

/** Throws when it does not answer in time or answers something else. */
export async function askStatus(host: string, port: number, timeoutMs: number): Promise<ServerStatus> {
  const socket = connect({ host, port });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error("the server does not answer in time")));
  try {
    socket.write(Buffer.concat([handshake(host, port), packet(Buffer.from([0]))]));
    const answer = JSON.parse(await readAnswer(socket)) as {
      version?: { name?: unknown };
      players?: { online?: unknown };
    };
    return { version: String(answer.version?.name ?? ""), online: Number(answer.players?.online ?? 0) };
  } finally {
    socket.destroy();
  }
}

function handshake(host: string, port: number): Buffer {
  const portBytes = Buffer.alloc(2);
  portBytes.writeUInt16BE(port);
  // Protocol -1: whoever asks does not know yet what the server speaks.
  return packet(
    Buffer.concat([Buffer.from([0]), varInt.write(-1), textOf(host), portBytes, varInt.write(1)]),
  );
}

function packet(body: Buffer): Buffer {
  return Buffer.concat([varInt.write(body.length), body]);
}

async function readAnswer(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  let [bytes, wanted] = [0, 1];
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > largestAnswer) throw new Error("the server's answer is too long");
    // Joined once it may be whole, not with each piece.
    if (bytes < wanted) continue;
    const got = Buffer.concat(chunks.splice(0));
    chunks.push(got);
    const length = varInt.read(got, 0);
    wanted = length ? length.next + length.value : bytes + 1;
    if (!length || bytes < wanted) continue;
    const id = varInt.read(got, length.next);
    const size = id && varInt.read(got, id.next);
    if (id?.value !== 0 || !size) throw new Error("the server answered something else than its status");
    return got.toString("utf8", size.next, size.next + size.value);
  }
  throw new Error("the server closed the connection without an answer");
}
