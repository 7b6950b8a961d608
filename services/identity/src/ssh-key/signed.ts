// What a client signs to sign in (RFC 4252, section 7): the connection, the user name and the key. Pure.

import { verify } from "node:crypto";
import { isUserName } from "@svc/proto";
import { type PublicKey, parseKeyBlob } from "./key.ts";
import { readerOf } from "./reader.ts";

const userAuthRequest = 50;

/** Algorithms of signatures by the type of key that makes them; SHA-1 is not among them. */
const algorithms: Readonly<Record<string, { type: PublicKey["type"]; digest: string | null }>> = {
  "ssh-ed25519": { type: "ssh-ed25519", digest: null },
  "ecdsa-sha2-nistp256": { type: "ecdsa-sha2-nistp256", digest: "sha256" },
  "ecdsa-sha2-nistp384": { type: "ecdsa-sha2-nistp384", digest: "sha384" },
  "ecdsa-sha2-nistp521": { type: "ecdsa-sha2-nistp521", digest: "sha512" },
  "rsa-sha2-256": { type: "ssh-rsa", digest: "sha256" },
  "rsa-sha2-512": { type: "ssh-rsa", digest: "sha512" },
};

/** The key that signed, and the server that its holder named; undefined for everything that proves nothing. */
export function readProof(signed: Buffer, signature: Buffer): { key: PublicKey; server: string } | undefined {
  const reader = readerOf(signed);
  const exchange = reader.bytes();
  const [kind, server, service, method] = [reader.byte(), reader.text(), reader.text(), reader.text()];
  const [isSigned, algorithm = "", blob] = [reader.byte(), reader.text(), reader.bytes()];
  if (!exchange || exchange.length < 20 || !blob || !reader.isAtEnd()) return undefined;
  if (kind !== userAuthRequest || service !== "ssh-connection" || method !== "publickey" || isSigned !== 1)
    return undefined;
  if (server === undefined || !isUserName(server)) return undefined;
  const known = algorithms[algorithm];
  const key = parseKeyBlob(blob);
  if (!known || "why" in key || key.type !== known.type) return undefined;
  return isGenuine({ key, digest: known.digest, signed, signature }) ? { key, server } : undefined;
}

type Claim = { key: PublicKey; digest: string | null; signed: Buffer; signature: Buffer };

function isGenuine({ key, digest, signed, signature }: Claim): boolean {
  try {
    return verify(digest, signed, key.key, signature);
  } catch {
    return false;
  }
}
