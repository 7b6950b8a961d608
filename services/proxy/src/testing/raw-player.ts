// A client that writes its own packets: cheap enough for load tests, and as malformed as a test wants it.

import { constants, createHash, createPublicKey, publicEncrypt, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { Connection, findVersion, type Packet, plainText, readTextNbt, type Version } from "@svc/minecraft";
import type { Account, Service } from "./service.ts";
import { watcher } from "./watcher.ts";

export const protocol = 769;

export function varint(value: number): Buffer {
  return value < 0x80
    ? Buffer.of(value)
    : Buffer.concat([Buffer.of((value & 0x7f) | 0x80), varint(value >>> 7)]);
}
export const text = (words: string) => bytesOf(Buffer.from(words));
export const bytesOf = (bytes: Buffer) => Buffer.concat([varint(bytes.length), bytes]);

export type Where = {
  port: number;
  host: string;
  account: Account;
  /** 3 = the client was transferred. */
  intent?: 2 | 3;
  cookies?: Map<string, Buffer>;
  /** Own address on loopback, and bytes to send before anything else. */
  from?: string;
  preamble?: Buffer;
};

type Sealed = { connection: Connection; secret: Buffer; answer: Buffer; hash: string };

/** Connects and gets as far as the answer to the encryption request, which the caller may still change. */
export async function begin({ port, host, account, intent = 2, ...how }: Where): Promise<Sealed> {
  const socket = connect({
    port,
    host: "127.0.0.1",
    ...(how.from !== undefined && { localAddress: how.from }),
  });
  const connection = new Connection(socket);
  if (how.preamble) socket.write(how.preamble);
  connection.send(0, varint(protocol), text(host), Buffer.of(0x63, 0xdd, intent));
  connection.send(0, text(account.name), Buffer.from(account.uuid.replaceAll("-", ""), "hex"));
  const { id, reader } = await connection.next();
  if (id !== 1) throw new Error(`packet ${id} came in place of the encryption request`);
  reader.string(20);
  const der = Buffer.from(reader.byteArray(512));
  const token = reader.byteArray(64);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  const seal = (bytes: Buffer) =>
    bytesOf(publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, bytes));
  const secret = randomBytes(16);
  const digest = createHash("sha1").update(secret).update(der).digest("hex");
  const hash = BigInt.asIntN(160, BigInt(`0x${digest}`)).toString(16);
  return { connection, secret, answer: Buffer.concat([seal(secret), seal(token)]), hash };
}

/** Logs in and from then on plays along with whatever the server asks of a client. */
export async function joinRaw(service: Service, where: Where) {
  const { connection, secret, answer, hash } = await begin(where);
  service.joined.set(hash, where.account);
  connection.send(1, answer);
  connection.encrypt(secret);
  for (let packet = await connection.next(); packet.id !== 2; packet = await connection.next()) {
    if (packet.id !== 3) throw new Error(`packet ${packet.id} came during the login`);
    connection.threshold = packet.reader.varint();
  }
  connection.send(3);
  const version = findVersion(protocol) as Version;
  return follow(connection, version, where.cookies ?? new Map());
}
export type RawPlayer = Awaited<ReturnType<typeof joinRaw>>;

const optional = (bytes: Buffer | undefined) =>
  bytes ? Buffer.concat([Buffer.of(1), bytesOf(bytes)]) : Buffer.of(0);

function readCompletions(reader: Packet["reader"]): [id: number, words: string[]] {
  const [id] = [reader.varint(), reader.varint(), reader.varint()];
  const words = Array.from({ length: reader.varint() }, () => {
    const word = reader.string();
    reader.bool();
    return word;
  });
  return [id, words];
}

function follow(connection: Connection, version: Version, cookies: Map<string, Buffer>) {
  const { wake, until } = watcher();
  const [seen, chat]: [string[], string[]] = [[], []];
  const completed = new Map<number, string[]>();
  const state = {
    phase: "configuration" as "configuration" | "play",
    transfer: undefined as { host: string; port: number } | undefined,
    worlds: 0,
    kicked: undefined as string | undefined,
    isClosed: false,
  };
  const send = (name: string, ...fields: Buffer[]) =>
    connection.send(version[state.phase].toServer.id(name), ...fields);
  const kicked = ({ reader }: Packet) => {
    state.kicked = plainText(readTextNbt(reader.rest()));
  };
  const answers: Record<string, ((packet: Packet) => unknown) | undefined> = {
    finish_configuration: () => {
      send("finish_configuration");
      state.phase = "play";
      state.worlds += 1;
    },
    start_configuration: () => {
      send("configuration_acknowledged");
      state.phase = "configuration";
    },
    keep_alive: ({ reader }) => void send("keep_alive", reader.take(8)),
    store_cookie: ({ reader }) => void cookies.set(reader.string(), Buffer.from(reader.byteArray(5_120))),
    cookie_request: ({ reader }) => {
      const key = reader.string();
      send("cookie_response", text(key), optional(cookies.get(key)));
    },
    tab_complete: ({ reader }) => completed.set(...readCompletions(reader)),
    system_chat: ({ reader }) => void chat.push(plainText(readTextNbt(reader.rest()))),
    disconnect: kicked,
    kick_disconnect: kicked,
    transfer: ({ reader }) => {
      state.transfer = { host: reader.string(), port: reader.varint() };
    },
  };
  connection.listen((packet) => {
    const name = version[state.phase].toClient.name(packet.id) ?? `unknown ${packet.id}`;
    if (seen.length < 1_000) seen.push(`${state.phase} ${name}`);
    answers[name]?.(packet);
    wake();
  });
  void connection.closed.then(() => {
    state.isClosed = true;
    wake();
  });
  return {
    connection,
    version,
    cookies,
    state,
    /** Packets that came, as `phase name`. */
    seen,
    /** What it does when a packet comes; a test may take an answer away. */
    answers,
    until,
    chat,
    hears: (pattern: RegExp) => until(() => chat.find((line) => pattern.test(line))),
    isKicked: () => until(() => (state.isClosed ? (state.kicked ?? "") : undefined)),
    send,
    /** The words that complete this line. */
    complete: (line: string) => {
      const id = completed.size + 1;
      send("tab_complete", varint(id), text(line));
      return until(() => completed.get(id));
    },
    command: (command: string) => send("chat_command", text(command)),
    leave: async () => {
      connection.destroy();
      await connection.closed;
    },
  };
}
