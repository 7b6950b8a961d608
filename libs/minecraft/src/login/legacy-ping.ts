// The server list of clients before 1.7: FE, FE 01, or FE 01 FA with the host that was typed.

import type { Socket } from "node:net";
import { plainText } from "../packet/text.ts";
import { readPreamble } from "../read-preamble.ts";
import { supportedRange } from "../version/catalog.ts";
import type { ServerStatus } from "./status.ts";

export type LegacyPing = {
  readonly form: "beta" | "1.4" | "1.6";
  readonly host: string;
  readonly protocol: number;
};

type Found = { readonly length: number; readonly ping?: LegacyPing };
const modern: Found = { length: 0 };

// A client that asks in the old way sends all of it at once and waits.
const quietMs = 200;
const maxBytes = 1_024;

/**
 * What the first bytes are: undefined while that cannot be said. A packet of today may begin with FE too, as the low
 * half of its length: only 254 bytes would be FE 01, and behind that comes the 00 of a handshake.
 */
export function decodeLegacyPing(bytes: Buffer, isQuiet: boolean): Found | undefined {
  if (bytes.length === 0) return undefined;
  if (bytes[0] !== 0xfe) return modern;
  if (bytes.length === 1) return isQuiet ? old("beta", 1) : undefined;
  if (bytes[1] !== 0x01) return modern;
  if (bytes.length === 2) return isQuiet ? old("1.4", 2) : undefined;
  if (bytes[2] !== 0xfa) return modern;
  return decodeHost(bytes) ?? (isQuiet || bytes.length > maxBytes ? old("1.6", bytes.length) : undefined);
}

function old(
  form: LegacyPing["form"],
  length: number,
  about: { host?: string; protocol?: number } = {},
): Found {
  return { length, ping: { form, host: about.host ?? "", protocol: about.protocol ?? -1 } };
}

// FA, "MC|PingHost" as a string, the bytes that follow as a short, protocol, host as a string, port.
function decodeHost(bytes: Buffer): Found | undefined {
  if (bytes.length < 5) return undefined;
  const channelEnd = 5 + bytes.readUInt16BE(3) * 2;
  if (bytes.length < channelEnd + 2) return undefined;
  const end = channelEnd + 2 + bytes.readUInt16BE(channelEnd);
  if (end > maxBytes || bytes.length < end || end < channelEnd + 9) return undefined;
  const characters = bytes.readUInt16BE(channelEnd + 3);
  const host = bytes.subarray(channelEnd + 5, Math.min(end - 4, channelEnd + 5 + characters * 2));
  const text = Buffer.from(host.subarray(0, host.length & ~1))
    .swap16()
    .toString("utf16le");
  return old("1.6", end, {
    host: text.toLowerCase().replace(/\.$/, ""),
    protocol: bytes[channelEnd + 2] ?? -1,
  });
}

/** The ping that a fresh connection begins with; undefined for everything else, which stays in the socket. */
export async function readLegacyPing(socket: Socket, timeoutMs: number): Promise<LegacyPing | undefined> {
  const found = await readPreamble(socket, {
    timeoutMs,
    what: "first packet",
    decode: decodeLegacyPing,
    quietMs,
  });
  return found.ping;
}

/** The answer is a kick whose words are the fields; the version is none that such a client could have. */
export function encodeLegacyAnswer({ form }: LegacyPing, status: ServerStatus): Buffer {
  const text = plainText(status.description)
    .replaceAll(/\u00a7./gu, "")
    .replaceAll(/[\u00a7\0\n\r]/g, " ")
    .slice(0, 128);
  const counts = [status.playersOnline, status.playersMax].map(String);
  const fields =
    form === "beta"
      ? [text, ...counts].join("\u00a7")
      : ["\u00a71", "127", supportedRange, text, ...counts].join("\0");
  const words = Buffer.from(fields, "utf16le").swap16();
  const head = Buffer.alloc(3);
  head.writeUInt8(0xff, 0);
  head.writeUInt16BE(fields.length, 1);
  return Buffer.concat([head, words]);
}
