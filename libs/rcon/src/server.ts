import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createPacketReader, encodePacket, frameBodyBytes, type Packet, packetType } from "./packet.ts";
import { createPasswordCheck, type PasswordCheck } from "./password-check.ts";

export type RconServerOptions = {
  readonly port: number;
  /** Address to listen on; 127.0.0.1 by default, since RCON is unencrypted. */
  readonly host?: string;
  /** Must not be empty. */
  readonly password: string;
  /** Runs one command and answers with its output. Never called twice at a time; what it throws becomes the reply. */
  readonly onCommand: (command: string) => string | Promise<string>;
  /** Connections at a time (16); one more is closed at once. */
  readonly maxConnections?: number;
  /** Wrong passwords of one address within a minute (20) after which its connections are closed unread. */
  readonly maxFailures?: number;
  /** Wait before a wrong password is answered, in milliseconds (250). */
  readonly failureDelayMs?: number;
  /** How long a connection may stay without a byte, in milliseconds: before the password (10 000) and after it (300 000). */
  readonly loginTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
};

export type RconServer = {
  /** The port it listens on, also when the options said 0. */
  readonly port: number;
  /** Stops listening, ends every connection and waits for the command that runs. */
  close(): Promise<void>;
};

type Shared = {
  readonly passwords: PasswordCheck;
  readonly run: (command: string) => Promise<string>;
  readonly idleTimeoutMs: number;
  readonly loginTimeoutMs: number;
};

// A client may send ahead; above this many waiting requests we stop reading until they are done.
const maxWaiting = 16;

/** Starts a Source RCON server as vanilla has it, for game servers written in JavaScript (docs/reference/console.md#rcon). */
export async function startRconServer(options: RconServerOptions): Promise<RconServer> {
  if (options.password === "")
    throw new RangeError("The RCON password must not be empty; set one or leave RCON off.");
  const commands = serialize(options.onCommand);
  const shared: Shared = {
    passwords: createPasswordCheck({
      password: options.password,
      maxFailures: options.maxFailures ?? 20,
      delayMs: options.failureDelayMs ?? 250,
    }),
    run: commands.run,
    idleTimeoutMs: options.idleTimeoutMs ?? 300_000,
    loginTimeoutMs: options.loginTimeoutMs ?? 10_000,
  };
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    serve(socket, shared);
  });
  server.maxConnections = options.maxConnections ?? 16;
  server.listen(options.port, options.host ?? "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      await closeServer(server, sockets);
      await commands.idle();
    },
  };
}

async function closeServer(server: Server, sockets: Set<Socket>): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}

function serialize(onCommand: RconServerOptions["onCommand"]) {
  let last: Promise<unknown> = Promise.resolve();
  const run = (command: string): Promise<string> => {
    const mine = last.then(() => onCommand(command)).catch((error: unknown) => `Error: ${messageOf(error)}`);
    last = mine;
    return mine;
  };
  return { run, idle: () => last };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function serve(socket: Socket, shared: Shared): void {
  const address = socket.remoteAddress ?? "";
  if (shared.passwords.isBlocked(address)) return void socket.destroy();
  const answer = createAnswerer(socket, { ...shared, address });
  const waiting: Packet[] = [];
  let busy = false;

  const work = async () => {
    if (busy) return;
    busy = true;
    for (let packet = waiting.shift(); packet && !socket.destroyed; packet = waiting.shift()) {
      await answer(packet);
      if (waiting.length < maxWaiting) socket.resume();
    }
    busy = false;
  };
  const read = createPacketReader({
    maxBodyBytes: frameBodyBytes,
    onPacket: (packet) => {
      waiting.push(packet);
      if (waiting.length >= maxWaiting) socket.pause();
    },
  });
  socket.setTimeout(shared.loginTimeoutMs, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    try {
      read(chunk);
      work().catch(() => socket.destroy());
    } catch {
      socket.destroy();
    }
  });
}

function createAnswerer(
  socket: Socket,
  { passwords, run, idleTimeoutMs, address }: Shared & { address: string },
) {
  let authenticated = false;
  const send = async (id: number, type: number, body: Buffer | string) => {
    const drained = socket.write(encodePacket({ id, type, body: Buffer.from(body) }));
    if (!drained && !socket.destroyed) await drainedOrClosed(socket);
  };
  const login = async ({ id, body }: Packet) => {
    authenticated = await passwords.accept(body, address);
    if (authenticated) socket.setTimeout(idleTimeoutMs);
    await send(authenticated ? id : -1, packetType.authReply, "");
    if (!authenticated && passwords.isBlocked(address)) socket.end();
  };

  return async (packet: Packet): Promise<void> => {
    if (packet.type === packetType.auth) return login(packet);
    if (!authenticated) {
      await send(-1, packetType.authReply, "");
      socket.end();
      return;
    }
    if (packet.type !== packetType.command) {
      return send(packet.id, packetType.reply, `Unknown request ${packet.type.toString(16)}`);
    }
    for (const part of cut(await run(packet.body.toString("utf8"))))
      await send(packet.id, packetType.reply, part);
  };
}

function drainedOrClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** By bytes, as Source does: a character may be cut in two. An empty reply is one empty frame. */
function cut(reply: string): Buffer[] {
  const bytes = Buffer.from(reply, "utf8");
  const count = Math.max(1, Math.ceil(bytes.length / frameBodyBytes));
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * frameBodyBytes, (index + 1) * frameBodyBytes),
  );
}
