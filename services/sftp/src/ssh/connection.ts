// One connection: its sign-in, its channels, and everything that ends it (docs/reference/sftp.md#session).

import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "@svc/client";
import type { Logger } from "@svc/telemetry";
import type { AuthContext, Connection, PublicKeyAuthContext, ServerChannel } from "ssh2";
import { createFileSession, type FileSession } from "../files/session.ts";
import { createRoom, type Room } from "../files/spool.ts";
import { createWorld, type World } from "../files/world.ts";
import type { Metrics } from "../metrics.ts";
import { createPackets } from "../protocol/packets.ts";
import { readRequest } from "../protocol/requests.ts";
import type { Admission } from "./admission.ts";
import type { Identity, Opened } from "./identity.ts";
import { isAcceptable } from "./key-kind.ts";

export type ConnectionDeps = {
  identity: Identity;
  admission: Admission;
  metrics: Metrics;
  log: Logger;
  externalUrl: string;
  spoolDir: string;
  spoolBytes: number;
  room: Room;
  idleMs: number;
  /** Connections that are being ended; a stop waits for them. */
  ending: Set<Promise<unknown>>;
};

type Peer = {
  client: Connection;
  socket: Socket;
  address: string;
  software: string;
  /** Takes back the deadline of the sign-in. */
  onSignedIn: () => void;
};

const checkWithinMs = 20_000;
const mostTries = 6;
const mostChannels = 4;
/** Whether a session still has its rights is asked this often, and at each operation. */
const checkMs = 5_000;

export function serveConnection(deps: ConnectionDeps, peer: Peer): void {
  const { client, socket, address } = peer;
  const ended = new AbortController();
  let session: Opened | undefined;
  let tries = 0;
  let isTrying = false;
  socket.once("close", () => {
    ended.abort();
    if (session) finish(deps, session);
  });
  client.on("error", (error) => deps.log.debug({ err: error, address }, "connection failed"));
  client.on("authentication", (context) => {
    if (!isKey(context) || !isAcceptable(context as never) || isTrying) return context.reject(["publickey"]);
    // Nobody is asked whether a key is known before its holder has signed, so that nothing tells known keys from others.
    if (!context.signature) return context.accept();
    tries += 1;
    if (tries > mostTries || !deps.admission.trySignIn(address)) {
      deps.metrics.signIn("limited");
      return void socket.destroy();
    }
    isTrying = true;
    signIn(deps, peer, context).then(
      (opened) => {
        isTrying = false;
        if (!opened) return context.reject(["publickey"]);
        if (ended.signal.aborted) return finish(deps, opened);
        session = opened;
        peer.onSignedIn();
        context.accept();
        serveSession(deps, peer, { opened, signal: ended.signal });
      },
      (error: unknown) => {
        deps.metrics.signIn("failed");
        deps.log.warn({ err: error, address }, "sign-in could not be decided");
        // Whoever is disconnected tries again later; a refusal would look like a wrong key.
        socket.destroy();
      },
    );
  });
}

function isKey(context: AuthContext): context is PublicKeyAuthContext {
  return context.method === "publickey";
}

/** The session, if the key opens one and its account may read files of the server. */
async function signIn(
  deps: ConnectionDeps,
  { address, software }: Peer,
  { blob, signature }: PublicKeyAuthContext,
): Promise<Opened | undefined> {
  const { identity, admission, metrics, log } = deps;
  if (!blob || !signature) return undefined;
  // As many lines as an address may send signatures.
  const refuse = (outcome: "refused" | "limited" | "no_access") => {
    metrics.signIn(outcome);
    log.info({ address, outcome }, "sign-in refused");
    return undefined;
  };
  const opened = await identity
    .open({ signed: blob, signature, address, software })
    .catch((error: unknown) => {
      if (error instanceof ApiError && (error.status === 403 || error.status === 400)) return undefined;
      throw error;
    });
  if (!opened) return refuse("refused");
  if (!admission.signIn(opened.user_id)) {
    close(deps, opened);
    return refuse("limited");
  }
  const signal = AbortSignal.timeout(checkWithinMs);
  const { externalUrl } = deps;
  const world = createWorld({ externalUrl, server: opened.server, secret: opened.secret, address, signal });
  try {
    await world.check();
  } catch (error) {
    finish(deps, opened);
    if (!isGone(error)) throw error;
    return refuse("no_access");
  }
  metrics.signIn("ok");
  return opened;
}

/** A refusal of the session itself: its key was removed, its account or its right to the server is gone. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && [400, 401, 403, 404].includes(error.status);
}

function finish(deps: ConnectionDeps, opened: Opened): void {
  deps.admission.signOut(opened.user_id);
  close(deps, opened);
}

/** A token that can't be closed now expires by itself, and nobody has it any more. */
function close({ identity, log, ending }: ConnectionDeps, { id }: Opened): void {
  const closing = identity.close(id).catch((error) => log.warn({ err: error }, "a session was not closed"));
  ending.add(closing);
  void closing.then(() => ending.delete(closing));
}

type Session = { opened: Opened; signal: AbortSignal };

function serveSession(deps: ConnectionDeps, peer: Peer, { opened, signal }: Session): void {
  const { client, socket, address } = peer;
  const { externalUrl, log } = deps;
  const world = createWorld({ externalUrl, server: opened.server, secret: opened.secret, address, signal });
  const room = createRoom(deps.spoolBytes / 2, deps.room);
  const end = (why: string) => {
    if (signal.aborted) return;
    log.info({ address, server: opened.server, why }, "ending a connection");
    client.end();
    sleep(1_000, undefined, { signal }).then(
      () => socket.destroy(),
      () => undefined,
    );
  };
  const use: Use = { at: Date.now(), waiting: 0 };
  watch(deps, { world, signal, use, end });
  let channels = 0;
  client.on("session", (accept, reject) => {
    if (channels >= mostChannels) return reject();
    const session = accept();
    session.on("subsystem", (acceptChannel, rejectChannel, { name }) => {
      if (name !== "sftp" || channels >= mostChannels) return rejectChannel();
      channels += 1;
      const channel = acceptChannel() as ServerChannel;
      void serveChannel(deps, { channel, socket, world, room, use, end }).then(() => {
        channels -= 1;
      });
    });
  });
}

/** When a request was last answered, in milliseconds, and how many are being answered. */
type Use = { at: number; waiting: number };

type Watched = { world: World; signal: AbortSignal; use: Use; end: (why: string) => void };

/** Ends a session whose rights are gone, or that nobody uses. */
function watch({ idleMs, log }: ConnectionDeps, { world, signal, use, end }: Watched): void {
  let isChecking = false;
  const timer = setInterval(() => {
    if (use.waiting === 0 && Date.now() - use.at > idleMs) return end("idle");
    if (isChecking) return;
    isChecking = true;
    world.check().then(
      () => {
        isChecking = false;
      },
      (error: unknown) => {
        isChecking = false;
        if (isGone(error)) end("no longer allowed");
        else if (!signal.aborted) log.debug({ err: error }, "a session could not be checked");
      },
    );
  }, checkMs);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

type Served = {
  channel: ServerChannel;
  socket: Socket;
  world: World;
  room: Room;
  use: Use;
  end: (why: string) => void;
};

/** A file that takes long to be put into the world is no idle connection. */
async function answerOf(session: FileSession, packet: Buffer, use: Use): Promise<Buffer> {
  use.waiting += 1;
  try {
    return await session.answer(readRequest(packet));
  } finally {
    use.waiting -= 1;
    use.at = Date.now();
  }
}

async function serveChannel(deps: ConnectionDeps, served: Served): Promise<void> {
  const { channel, socket, use, end } = served;
  const session = fileSessionOf(deps, served);
  const packets = createPackets();
  try {
    for await (const chunk of channel as AsyncIterable<Buffer>)
      for (const packet of packets(chunk)) {
        const reply = await answerOf(session, packet, use);
        if (!(await send(channel, socket, reply))) return;
      }
    channel.exit(0);
    channel.end();
  } catch (error) {
    deps.log.debug({ err: error }, "a channel failed");
    end("what it sent is no SFTP");
  } finally {
    await session.discard().catch((error) => deps.log.warn({ err: error }, "discarding a transfer failed"));
  }
}

function fileSessionOf(deps: ConnectionDeps, { channel, world, room, end }: Served) {
  let lastSaid = "";
  return createFileSession({
    ...{ world, room, dir: deps.spoolDir },
    // OpenSSH shows no messages of refusals, but what comes on this stream.
    say: (message) => {
      if (message !== lastSaid && channel.writable) channel.stderr.write(`svc: ${oneLine(message)}\r\n`);
      lastSaid = message;
    },
    onOperation: deps.metrics.operation,
    onEnded: () => end("no longer allowed"),
    onError: (error) => {
      if (!isAbort(error)) deps.log.warn({ err: error }, "an operation failed");
    },
  });
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function oneLine(message: string): string {
  return message.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").slice(0, 500);
}

/** False when the connection has ended. Waits for a client that does not read, at its channel and at its connection. */
async function send(channel: ServerChannel, socket: Socket, reply: Buffer): Promise<boolean> {
  if (!channel.writable || socket.destroyed) return false;
  const written = Promise.withResolvers<void>();
  const closed = () => written.resolve();
  socket.once("close", closed);
  channel.once("close", closed);
  channel.write(reply, closed);
  await written.promise;
  channel.off("close", closed);
  if (socket.writableNeedDrain && !socket.destroyed) {
    const drained = Promise.withResolvers<void>();
    socket.once("drain", drained.resolve).once("close", drained.resolve);
    await drained.promise;
    socket.off("drain", drained.resolve).off("close", drained.resolve);
  }
  socket.off("close", closed);
  return channel.writable && !socket.destroyed;
}
