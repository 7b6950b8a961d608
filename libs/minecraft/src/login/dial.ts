import { connect, type Socket } from "node:net";
import { MinecraftFault } from "../fault.ts";
import { plainText, readTextJson } from "../packet/text.ts";
import { encodeProxyHeader } from "../proxy-protocol.ts";
import type { Version } from "../version/catalog.ts";
import { bool, string, ushort, varint } from "../wire/bytes.ts";
import { Connection, type Packet } from "../wire/connection.ts";
import { maxInflatedBytes } from "../wire/frame.ts";
import { Work, type WorkLimits } from "../wire/work.ts";
import { encodeForwarding, forwardingChannel } from "./forwarding.ts";
import { type Profile, uuidBytes } from "./profile.ts";

/** Where a backend is and how it knows us. */
export type Backend = {
  /** The name used in hooks and logs. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Secret of modern forwarding; without it a backend that asks gets "not understood". */
  readonly secret?: string;
  /** Send a PROXY v2 header first. */
  readonly proxyProtocol?: boolean;
  /** Connect and login together (10 000). */
  readonly timeoutMs?: number;
  /** What it may cost us to read from it. */
  readonly work?: WorkLimits;
};

/** For whom the backend is dialled. */
type Dialler = {
  readonly version: Version;
  readonly profile: Profile;
  readonly address: string;
  readonly signal?: AbortSignal;
};

/**
 * Logs a player in to a backend. The connection comes back in the configuration phase with its packets unread. Faults:
 * `unavailable` (nobody there), `timeout`, `refused` with the server's words, `unsupported` (backend in online mode).
 */
export async function dial(backend: Backend, dialler: Dialler): Promise<Connection> {
  const socket = connect({ host: backend.host, port: backend.port, noDelay: true });
  let failure: MinecraftFault | undefined;
  const stop = (fault: MinecraftFault) => {
    failure ??= fault;
    socket.destroy();
  };
  const timer = setTimeout(
    () => stop(new MinecraftFault("timeout", `${backend.name} did not answer in time`)),
    backend.timeoutMs ?? 10_000,
  );
  const onAbort = () => stop(new MinecraftFault("closed", "the player left"));
  dialler.signal?.addEventListener("abort", onAbort, { once: true });
  if (dialler.signal?.aborted) onAbort();
  const connection = new Connection(socket);
  if (backend.work) connection.work = new Work(backend.work);
  try {
    await connected(socket, backend);
    if (backend.proxyProtocol) socket.write(proxyHeader(socket, dialler.address));
    await login(connection, backend, dialler);
    return connection;
  } catch (error) {
    socket.destroy();
    if (failure) throw failure;
    if (error instanceof MinecraftFault && error.code !== "closed") throw error;
    throw new MinecraftFault("unavailable", `${backend.name} closed the connection: ${String(error)}`);
  } finally {
    clearTimeout(timer);
    dialler.signal?.removeEventListener("abort", onAbort);
  }
}

/** Resolves once the socket stands; `unavailable` when it can't. */
export function connected(socket: Socket, backend: Backend): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error?: Error) =>
      reject(
        new MinecraftFault("unavailable", `${backend.name} can't be reached: ${error?.message ?? "closed"}`),
      );
    socket.once("error", fail);
    socket.once("close", () => fail());
    socket.once("connect", () => {
      socket.off("error", fail);
      resolve();
    });
  });
}

export function proxyHeader(socket: Socket, address: string): Buffer {
  const destination = { address: socket.remoteAddress ?? "127.0.0.1", port: socket.remotePort ?? 0 };
  return encodeProxyHeader({ address, port: 0 }, destination);
}

/** A reason with a list of mods in it is a tenth of this. */
const maxLoginBytes = 131_072;
const maxLoginPackets = 256;

async function login(connection: Connection, backend: Backend, dialler: Dialler): Promise<void> {
  const { profile, version } = dialler;
  connection.send(0, varint(version.protocol), string(backend.host), ushort(backend.port), varint(2));
  connection.send(0, string(profile.name), uuidBytes(profile.uuid));
  connection.inflatedLimit = maxLoginBytes;
  for (let count = 0; count < maxLoginPackets; count++) {
    const packet = await connection.next();
    if (packet.id === 2) {
      connection.inflatedLimit = maxInflatedBytes;
      return void connection.send(3);
    }
    answer(connection, packet, { backend, dialler });
  }
  throw new MinecraftFault(
    "frame",
    `${backend.name} sent ${maxLoginPackets} packets and did not end the login`,
  );
}

function answer(
  connection: Connection,
  { id, reader }: Packet,
  to: { backend: Backend; dialler: Dialler },
): void {
  const { backend, dialler } = to;
  if (id === 0) {
    const words = plainText(readTextJson(reader.string(262_144)));
    throw new MinecraftFault("refused", `${backend.name} refused the player`, words);
  }
  if (id === 1)
    throw new MinecraftFault("unsupported", `${backend.name} is in online mode and can't be behind a proxy`);
  if (id === 3) connection.threshold = reader.varint();
  else if (id === 4) {
    const [messageId, channel, data] = [reader.varint(), reader.string(256), reader.rest()];
    const known = channel === forwardingChannel && backend.secret !== undefined;
    const body = known ? encodeForwarding(dialler, backend.secret, data[0]) : Buffer.alloc(0);
    connection.send(2, varint(messageId), bool(known), body);
  } else if (id === 5) connection.send(4, string(reader.string(32_767)), bool(false));
  else throw new MinecraftFault("frame", `${backend.name} sent packet ${id} during login`);
}
