import { createHmac, timingSafeEqual } from "node:crypto";
import { MinecraftFault } from "../fault.ts";
import { Reader, string, varint } from "../wire/bytes.ts";
import {
  dashed,
  encodeProperties,
  isPlayerName,
  type Profile,
  readProperties,
  uuidBytes,
} from "./profile.ts";
import { type ForwardingSecrets, secretsOf } from "./secrets.ts";

/** The login plugin channel of Velocity's modern forwarding. */
export const forwardingChannel = "velocity:player_info";
/** The layout we offer and understand: profile without chat key. 4 (lazy session) has the same layout. */
const defaultVersion = 1;
const lazySession = 4;

/** Who the proxy says is playing, and from which address. */
export type Forwarded = { readonly profile: Profile; readonly address: string };

/** Proxy side: the signed answer. `asked` is the newest layout the server named; Velocity's answers are 1 or 4. */
export function encodeForwarding(forwarded: Forwarded, secret: string, asked = defaultVersion): Buffer {
  const { profile, address } = forwarded;
  const body = Buffer.concat([
    varint(asked >= lazySession ? lazySession : defaultVersion),
    string(address),
    uuidBytes(profile.uuid),
    string(profile.name),
    encodeProperties(profile.properties),
  ]);
  return Buffer.concat([sign(body, secret), body]);
}

/** Server side: checks the signature in constant time before a byte of the content is believed. */
export function decodeForwarding(answer: Buffer, secrets: ForwardingSecrets): Forwarded {
  const [signature, body] = [answer.subarray(0, 32), answer.subarray(32)];
  const isSigned = (secret: string) =>
    signature.length === 32 && timingSafeEqual(signature, sign(body, secret));
  if (!secretsOf(secrets).some(isSigned)) {
    throw new MinecraftFault("unauthenticated", "the forwarding signature is wrong");
  }
  const reader = new Reader(body);
  const version = reader.varint();
  if (version !== defaultVersion && version !== lazySession) {
    throw new MinecraftFault("unauthenticated", `forwarding version ${version} is unknown`);
  }
  const address = reader.string(255);
  const uuid = dashed(reader.take(16).toString("hex"));
  const name = reader.string(16);
  if (!isPlayerName(name))
    throw new MinecraftFault("unauthenticated", "the forwarded name is not a player name");
  return { profile: { uuid, name, properties: readProperties(reader) }, address };
}

function sign(body: Buffer, secret: string): Buffer {
  // An empty secret would let everybody sign.
  if (secret === "") throw new MinecraftFault("unauthenticated", "the forwarding secret is empty");
  return createHmac("sha256", secret).update(body).digest();
}
