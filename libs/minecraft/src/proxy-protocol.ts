import { isIPv4, isIPv6, type Socket } from "node:net";
import { MinecraftFault } from "./fault.ts";
import { readPreamble } from "./read-preamble.ts";

const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
/** The most a header may hold: two IPv6 addresses and 1 KiB of extensions. */
const maxExtraBytes = 1_060;

/** One end of a TCP connection. */
type Endpoint = { readonly address: string; readonly port: number };

/** Writes a PROXY protocol v2 header for a TCP connection. Mixed families are sent as IPv6. */
export function encodeProxyHeader(source: Endpoint, destination: Endpoint): Buffer {
  const v4 = isIPv4(source.address) && isIPv4(destination.address);
  const address = v4 ? v4Bytes : v6Bytes;
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(source.port, 0);
  ports.writeUInt16BE(destination.port, 2);
  const body = Buffer.concat([address(source.address), address(destination.address), ports]);
  return Buffer.concat([
    signature,
    Buffer.of(0x21, v4 ? 0x11 : 0x21, body.length >> 8, body.length & 0xff),
    body,
  ]);
}

const wordsOfV1 = Buffer.from("PROXY ");
/** The most that version 1 allows, its line break included. */
const maxV1Bytes = 107;

type Header = { length: number; source?: Endpoint };

/**
 * Reads a header of version 1 or 2 from the start of `bytes`: undefined while it is not whole; `source` is absent for
 * health checks (LOCAL, UNKNOWN).
 */
export function decodeProxyHeader(bytes: Buffer): Header | undefined {
  const isV1 = bytes.length > 0 && bytes[0] === wordsOfV1[0];
  return isV1 ? decodeV1(bytes) : decodeV2(bytes);
}

function decodeV1(bytes: Buffer): Header | undefined {
  const known = bytes.subarray(0, wordsOfV1.length);
  if (!known.equals(wordsOfV1.subarray(0, known.length)))
    throw new MinecraftFault("frame", "there is no PROXY header");
  const end = bytes.subarray(0, maxV1Bytes).indexOf("\r\n");
  if (end < 0) {
    if (bytes.length >= maxV1Bytes) throw new MinecraftFault("frame", "the PROXY header has no end");
    return undefined;
  }
  const [, family, address = "", , port = "", ...rest] = bytes.toString("latin1", 0, end).split(" ");
  const length = end + 2;
  if (family === "UNKNOWN") return { length };
  const isAddress = (family === "TCP4" && isIPv4(address)) || (family === "TCP6" && isIPv6(address));
  if (!isAddress || rest.length !== 1 || !/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new MinecraftFault("frame", "the PROXY header names no address");
  return { length, source: { address: plainAddress(address), port: Number(port) } };
}

function decodeV2(bytes: Buffer): Header | undefined {
  const known = bytes.subarray(0, signature.length);
  if (!known.equals(signature.subarray(0, known.length)))
    throw new MinecraftFault("frame", "there is no PROXY header");
  if (bytes.length < 16) return undefined;
  const [command, family, size] = [bytes.readUInt8(12), bytes.readUInt8(13), bytes.readUInt16BE(14)];
  if (command >> 4 !== 2 || (command & 0xf) > 1)
    throw new MinecraftFault("frame", "the PROXY header is not version 2");
  if (size > maxExtraBytes) throw new MinecraftFault("frame", `a PROXY header of ${size} bytes is refused`);
  const length = 16 + size;
  if (bytes.length < length) return undefined;
  if ((command & 0xf) === 0) return { length };
  const width = family === 0x11 ? 4 : family === 0x21 ? 16 : 0;
  if (width === 0 || size < width * 2 + 4)
    throw new MinecraftFault("frame", "the PROXY header is not about TCP");
  const address = bytes.subarray(16, 16 + width);
  return { length, source: { address: readAddress(address), port: bytes.readUInt16BE(16 + width * 2) } };
}

/** Takes the header off a fresh connection. `destroy`s nothing: the caller closes when this rejects. */
export async function readProxyHeader(socket: Socket, timeoutMs: number): Promise<Endpoint | undefined> {
  const { source } = await readPreamble(socket, {
    timeoutMs,
    what: "PROXY header",
    decode: decodeProxyHeader,
  });
  return source;
}

const v4Bytes = (address: string) => Buffer.from(address.split(".").map(Number));

function v6Bytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.concat([Buffer.alloc(10), Buffer.of(0xff, 0xff), v4Bytes(address)]);
  if (!isIPv6(address)) throw new TypeError(`${address} is not an address`);
  // The URL parser writes every form (dotted tails too) as plain groups.
  const [head = "", tail] = new URL(`http://[${address.split("%")[0]}]`).hostname.slice(1, -1).split("::");
  const groups = (part: string) =>
    part
      .split(":")
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  const [before, after] = [groups(head), groups(tail ?? "")];
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

function readAddress(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(
    ":",
  );
  return plainAddress(new URL(`http://[${groups}]`).hostname.slice(1, -1));
}

/** An IPv4 address that came as IPv6 (`::ffff:…`, in either notation) as plain IPv4; anything else unchanged. */
export function plainAddress(address: string): string {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted) return dotted;
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (!hex) return address;
  const [high, low] = [Number.parseInt(hex[1] ?? "0", 16), Number.parseInt(hex[2] ?? "0", 16)];
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}
