// Requests of SFTP version 3 (draft-ietf-secsh-filexfer-02) as values. Pure.

import { ProtocolError } from "./packets.ts";

/** Members of a file's attributes that a client may set; others are read and dropped. */
type GivenAttributes = { size?: number };

type Kinds = {
  open: { path: string; flags: number };
  close: { handle: string };
  read: { handle: string; offset: number; length: number };
  write: { handle: string; offset: number; data: Buffer };
  lstat: { path: string };
  fstat: { handle: string };
  setstat: { path: string; attributes: GivenAttributes };
  fsetstat: { handle: string; attributes: GivenAttributes };
  opendir: { path: string };
  readdir: { handle: string };
  remove: { path: string };
  mkdir: { path: string };
  rmdir: { path: string };
  realpath: { path: string };
  stat: { path: string };
  rename: { path: string; to: string };
};
export type Kind = keyof Kinds;
type Known = { [K in Kind]: { kind: K; id: number } & Kinds[K] }[Kind];

/** `unsupported`: anything else with an id. `bad`: one that is read but makes no sense. */
export type Request =
  | { kind: "init"; version: number }
  | Known
  | { kind: "unsupported"; id: number }
  | { kind: "bad"; id: number; why: string };

const init = 1;
const utf8 = new TextDecoder("utf-8", { fatal: true });
const longestPath = 4_096;
const longestHandle = 256;

class Unreadable extends Error {}

/** Reads one packet. Throws `ProtocolError` where not even an id can be read, so that nothing could be answered. */
export function readRequest(packet: Buffer): Request {
  const [type] = packet;
  if (packet.length < 5) throw new ProtocolError("a packet without an id");
  const id = packet.readUInt32BE(1);
  if (type === init) return { kind: "init", version: id };
  const read = readers[type ?? 0];
  if (!read) return { kind: "unsupported", id };
  try {
    return { ...read(fieldsOf(packet.subarray(5))), id } as Known;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { kind: "bad", id, why: error.message };
  }
}

type Fields = ReturnType<typeof fieldsOf>;

function fieldsOf(data: Buffer) {
  let at = 0;
  const take = (length: number) => {
    if (length > data.length - at) throw new Unreadable("the request is cut off");
    at += length;
    return data.subarray(at - length, at);
  };
  const number = () => take(4).readUInt32BE();
  const bytes = () => take(number());
  // A number beyond what is exact can't be an offset or a size of a file here.
  const large = () => {
    const value = take(8).readBigUInt64BE();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Unreadable("the number is too large");
    return Number(value);
  };
  const text = (most: number, what: string) => {
    const found = bytes();
    if (found.length > most) throw new Unreadable(`the ${what} is too long`);
    try {
      return utf8.decode(found);
    } catch {
      throw new Unreadable(`the ${what} is not valid UTF-8`);
    }
  };
  return {
    ...{ number, bytes, large },
    path: () => text(longestPath, "path"),
    handle: () => text(longestHandle, "handle"),
    attributes: (): GivenAttributes => {
      const flags = number();
      const size = flags & 1 ? large() : undefined;
      if (flags & 2) take(8);
      if (flags & 4) take(4);
      if (flags & 8) take(8);
      return size === undefined ? {} : { size };
    },
  };
}

const handle = (kind: Kind) => (fields: Fields) => ({ kind, handle: fields.handle() });
const path = (kind: Kind) => (fields: Fields) => ({ kind, path: fields.path() });

/** By type of packet. */
const readers: Readonly<Record<number, (fields: Fields) => { kind: Kind }>> = {
  3: ({ path, number }) => ({ kind: "open", path: path(), flags: number() }),
  4: handle("close"),
  5: (fields) => ({
    kind: "read",
    handle: fields.handle(),
    offset: fields.large(),
    length: fields.number(),
  }),
  6: (fields) => ({ kind: "write", handle: fields.handle(), offset: fields.large(), data: fields.bytes() }),
  7: path("lstat"),
  8: handle("fstat"),
  9: (fields) => ({ kind: "setstat", path: fields.path(), attributes: fields.attributes() }),
  10: (fields) => ({ kind: "fsetstat", handle: fields.handle(), attributes: fields.attributes() }),
  11: path("opendir"),
  12: handle("readdir"),
  13: path("remove"),
  14: path("mkdir"),
  15: path("rmdir"),
  16: path("realpath"),
  17: path("stat"),
  18: (fields) => ({ kind: "rename", path: fields.path(), to: fields.path() }),
};
