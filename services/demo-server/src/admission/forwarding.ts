import { createHmac, timingSafeEqual } from "node:crypto";
import type { ProfileProperty } from "flying-squid";
import { formatUuid } from "../access/offline-uuid.ts";

export const forwardingChannel = "velocity:player_info";

/** Highest version we ask for. 2 and 3 carry a chat key after the profile, which a server in offline mode has no use for. */
export const forwardingVersion = 4;

export type ForwardedPlayer = {
  readonly address: string;
  readonly uuid: string;
  readonly name: string;
  readonly properties: readonly ProfileProperty[];
};

const signatureBytes = 32;

/** Velocity's modern forwarding: HMAC-SHA256 over the rest, then version, address, UUID, name and properties. */
export function verifyForwarding(data: Buffer, secrets: readonly string[]): ForwardedPlayer | undefined {
  if (data.length <= signatureBytes) return undefined;
  const body = data.subarray(signatureBytes);
  const isSigned = (secret: string) =>
    timingSafeEqual(data.subarray(0, signatureBytes), createHmac("sha256", secret).update(body).digest());
  if (!secrets.some(isSigned)) return undefined;
  try {
    return readPlayer(body);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readPlayer(body: Buffer): ForwardedPlayer | undefined {
  const read = createReader(body);
  const version = read.varInt();
  if (version < 1 || version > forwardingVersion) return undefined;
  const address = read.text();
  const uuid = formatUuid(read.bytes(16));
  const name = read.text();
  const properties = Array.from({ length: read.count() }, () => {
    const property = { name: read.text(), value: read.text() };
    return read.bytes(1)[0] ? { ...property, signature: read.text() } : property;
  });
  return { address, uuid, name, properties };
}

/** Every read past the end is a RangeError. */
function createReader(buffer: Buffer) {
  let offset = 0;
  const bytes = (length: number): Buffer => {
    if (length < 0 || offset + length > buffer.length)
      throw new RangeError("The forwarded data ends too early.");
    offset += length;
    return buffer.subarray(offset - length, offset);
  };
  const varInt = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes(1).readUInt8(0);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("The forwarded data holds a number of more than five bytes.");
  };
  const count = (): number => {
    const value = varInt();
    if (value < 0 || value > 64) throw new RangeError("The forwarded data holds too many properties.");
    return value;
  };
  return { bytes, varInt, count, text: () => bytes(varInt()).toString("utf8") };
}
