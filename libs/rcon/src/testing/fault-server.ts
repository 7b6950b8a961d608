import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createPacketReader, encodePacket, type Packet } from "../packet.ts";

/**
 * How a test server misbehaves, or how exactly it behaves:
 * - `bytewise`: each byte is a write of its own
 * - `coalesce`: all frames of a reply in one write, together with an empty type 0 frame before the auth answer
 * - `strict`: as vanilla, one read must hold exactly one packet of at most 1460 bytes, else the connection ends
 * - `silent`: the password is accepted, commands are never answered
 * - `deaf`: connections are accepted and nothing is ever answered
 * - `auth-close`: the password is accepted and the connection ends
 * - `huge`: the first answer claims a length of 2 GiB
 * - `revoked`: the password is accepted, then each command is refused with id -1
 */
export type FaultMode =
  | "plain"
  | "bytewise"
  | "coalesce"
  | "strict"
  | "silent"
  | "deaf"
  | "auth-close"
  | "huge"
  | "revoked";

type Options = { readonly mode: FaultMode; readonly reply?: (command: string) => string | Promise<string> };

export const faultPassword = "correct horse";

/** A deliberately plain RCON server, written apart from the real one so that the client is not tested against itself. */
export async function startFaultServer({ mode, reply = (command) => command }: Options) {
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    if (mode === "deaf") return void socket.resume();
    let turn: Promise<void> = Promise.resolve();
    const answer = answerer(socket, { mode, reply });
    const onPacket = (packet: Packet) => {
      turn = turn.then(() => answer(packet));
    };
    const read = createPacketReader({ maxBodyBytes: 4096, onPacket });
    socket.on("data", (chunk) => {
      if (mode === "strict" && (chunk.length > 1460 || chunk.length !== chunk.readInt32LE(0) + 4))
        socket.destroy();
      else read(chunk);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    open: () => sockets.size,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function answerer(socket: Socket, { mode, reply }: Required<Options>) {
  const write = (frames: Buffer[]) => {
    const units =
      mode === "bytewise"
        ? frames.flatMap(singleBytes)
        : mode === "coalesce"
          ? [Buffer.concat(frames)]
          : frames;
    for (const unit of units) socket.write(unit);
  };
  return async ({ id, type, body }: Packet): Promise<void> => {
    if (type === 3) {
      const isRight = body.toString("utf8") === faultPassword;
      if (mode === "huge") return void socket.write(Buffer.from([0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0]));
      const auth = encodePacket({ id: isRight ? id : -1, type: 2, body: Buffer.alloc(0) });
      write(mode === "coalesce" ? [encodePacket({ id, type: 0, body: Buffer.alloc(0) }), auth] : [auth]);
      if (mode === "auth-close") socket.end();
    } else if (mode === "revoked") write([encodePacket({ id: -1, type: 2, body: Buffer.alloc(0) })]);
    else if (mode !== "silent") {
      const text = type === 2 ? await reply(body.toString("utf8")) : `Unknown request ${type.toString(16)}`;
      write(cutAt4096(Buffer.from(text, "utf8")).map((part) => encodePacket({ id, type: 0, body: part })));
    }
  };
}

function singleBytes(frame: Buffer): Buffer[] {
  return [...frame].map((byte) => Buffer.of(byte));
}

function cutAt4096(bytes: Buffer): Buffer[] {
  const parts = [bytes.subarray(0, 4096)];
  for (let start = 4096; start < bytes.length; start += 4096) parts.push(bytes.subarray(start, start + 4096));
  return parts;
}
