import { createHash } from "node:crypto";
import { bool, type Reader, string, varint } from "../wire/bytes.ts";

/** A property of a profile, such as the skin (`textures`). */
export type ProfileProperty = { readonly name: string; readonly value: string; readonly signature?: string };
/** A player as the session server (or the proxy) vouches for them. `uuid` is lower-case with dashes. */
export type Profile = {
  readonly uuid: string;
  readonly name: string;
  readonly properties: readonly ProfileProperty[];
};

/** Whether this can be a player's name: 1 to 16 letters, digits and underscores. */
export const isPlayerName = (name: string): boolean => /^[A-Za-z0-9_]{1,16}$/.test(name);

/** The shortest name that is taken: without a session server's word on it, names follow the rule for new ones. */
export const shortestName = { online: 1, forwarded: 1, offline: 1, named: 3 } as const;

/** Writes a UUID with dashes, whichever way it came. */
export function dashed(uuid: string): string {
  const hex = uuid.replaceAll("-", "").toLowerCase();
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The 16 bytes of a UUID. */
export const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll("-", ""), "hex");

/** The UUID that every server gives a name in offline mode. */
export function offlineUuid(name: string): string {
  const hash = createHash("md5").update(`OfflinePlayer:${name}`).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x30, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return dashed(hash.toString("hex"));
}

/** The properties as login success and modern forwarding carry them. */
export function encodeProperties(properties: readonly ProfileProperty[]): Buffer {
  const one = ({ name, value, signature }: ProfileProperty) =>
    Buffer.concat([
      string(name),
      string(value),
      bool(signature !== undefined),
      signature === undefined ? Buffer.alloc(0) : string(signature),
    ]);
  return Buffer.concat([varint(properties.length), ...properties.map(one)]);
}

/** Reads them back; at most 16, as vanilla has it. */
export function readProperties(reader: Reader): ProfileProperty[] {
  const count = reader.varint();
  if (count < 0 || count > 16) throw new RangeError(`a profile holds at most 16 properties, not ${count}`);
  return Array.from({ length: count }, () => {
    const [name, value] = [reader.string(64), reader.string()];
    return reader.bool() ? { name, value, signature: reader.string(1024) } : { name, value };
  });
}
