import { connect } from "node:net";
import { MinecraftFault } from "../fault.ts";
import { string, ushort, varint } from "../wire/bytes.ts";
import { Connection } from "../wire/connection.ts";
import type { Backend } from "./dial.ts";
import { connected, proxyHeader } from "./dial.ts";
import { isPlayerName } from "./profile.ts";

/** What a server says of itself in the server list. Each field was checked: the server may be anybody's. */
export type ServerAnswer = {
  /** The protocol number it would speak with a client of the number it was asked with. */
  readonly protocol: number;
  /** Its own words for its version, at most 32 characters. */
  readonly versionName: string;
  readonly playersOnline: number;
  readonly playersMax: number;
  /** At most 12 players with names that players can have. */
  readonly sample: readonly { readonly name: string; readonly id: string }[];
  /** `data:image/png;base64,…`, when it is no larger than an icon of 64x64 can be. */
  readonly favicon: string | undefined;
};

// The protocol's own limit of the text, 32,767 characters of up to three bytes each, and the fields before it.
const maxAnswerBytes = 98_400;
const maxIconCharacters = 24_576;
const maxSample = 12;

/**
 * Asks a server for its entry in the server list, as a client of `protocol` would: one that speaks several versions
 * names the asker's. Faults: `unavailable`, `timeout`, `frame` for an answer that is none.
 */
export async function readStatus(backend: Backend, protocol: number): Promise<ServerAnswer> {
  const socket = connect({ host: backend.host, port: backend.port, noDelay: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    socket.destroy();
  }, backend.timeoutMs ?? 5_000);
  const connection = new Connection(socket);
  connection.frameLimit = maxAnswerBytes;
  try {
    await connected(socket, backend);
    if (backend.proxyProtocol) socket.write(proxyHeader(socket, socket.localAddress ?? "127.0.0.1"));
    connection.send(0, varint(protocol), string(backend.host), ushort(backend.port), varint(1));
    connection.send(0);
    const { id, reader } = await connection.next();
    if (id !== 0)
      throw new MinecraftFault("frame", `${backend.name} sent packet ${id} in place of its status`);
    return readAnswer(reader.string(32_767));
  } catch (error) {
    if (isLate) throw new MinecraftFault("timeout", `${backend.name} did not tell its status in time`);
    if (error instanceof MinecraftFault) throw error;
    throw new MinecraftFault("frame", `${backend.name} sent a status that is none: ${String(error)}`);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function readAnswer(json: string): ServerAnswer {
  const { version, players, favicon } = fieldsOf(JSON.parse(json));
  const { name, protocol } = fieldsOf(version);
  const { online, max, sample } = fieldsOf(players);
  if (!Number.isSafeInteger(protocol)) throw new MinecraftFault("frame", "the status names no protocol");
  return {
    protocol: protocol as number,
    versionName: cleanName(name),
    playersOnline: countOf(online),
    playersMax: countOf(max),
    sample: Array.isArray(sample) ? sample.slice(0, maxSample).flatMap(entryOf) : [],
    favicon: typeof favicon === "string" && isIcon(favicon) ? favicon : undefined,
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
}

function cleanName(name: unknown): string {
  return typeof name === "string"
    ? name
        .slice(0, 256)
        .replaceAll(/\p{Cc}|§./gu, "")
        .slice(0, 32)
    : "";
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.min(Math.max(value as number, 0), 2_147_483_647) : 0;
}

function entryOf(value: unknown): { name: string; id: string }[] {
  const { name, id } = fieldsOf(value);
  const isPlayer = typeof name === "string" && isPlayerName(name);
  return isPlayer && typeof id === "string" && /^[0-9a-fA-F-]{32,36}$/.test(id) ? [{ name, id }] : [];
}

function isIcon(favicon: string): boolean {
  return (
    favicon.length <= maxIconCharacters && /^data:image\/png;base64,[A-Za-z0-9+/\s]+={0,2}$/.test(favicon)
  );
}
