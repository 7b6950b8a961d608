// Key pairs of SSH, and what their clients sign.

import { generateKeyPairSync, type KeyObject } from "node:crypto";

export type SshKeyPair = { blob: Buffer; key: KeyObject };

/** A length of four bytes and the bytes. */
export function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

const bytesOf = (base64url = "") => Buffer.from(base64url, "base64url");

export function ed25519Key(): SshKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x } = publicKey.export({ format: "jwk" });
  return { key: privateKey, blob: Buffer.concat([field("ssh-ed25519"), field(bytesOf(x))]) };
}

export function rsaKey(modulusLength: number): SshKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength });
  const { e, n } = publicKey.export({ format: "jwk" });
  const positive = Buffer.concat([Buffer.of(0), bytesOf(n)]);
  return { key: privateKey, blob: Buffer.concat([field("ssh-rsa"), field(bytesOf(e)), field(positive)]) };
}

export function curveKey(namedCurve: "P-256" | "P-384" | "P-521"): SshKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve });
  const { x, y } = publicKey.export({ format: "jwk" });
  const name = `nistp${namedCurve.slice(2)}`;
  const point = Buffer.concat([Buffer.of(4), bytesOf(x), bytesOf(y)]);
  return {
    key: privateKey,
    blob: Buffer.concat([field(`ecdsa-sha2-${name}`), field(name), field(point)]),
  };
}

type SignedRequest = {
  algorithm: string;
  blob: Buffer;
  user?: string;
  service?: string;
  method?: string;
  kind?: number;
  isSigned?: number;
  exchange?: Buffer;
  more?: Buffer;
};

/** What a client signs to sign in as `user` (RFC 4252, section 7). */
export function signedRequest(request: SignedRequest): Buffer {
  const { algorithm, blob, user = "survival", service = "ssh-connection", method = "publickey" } = request;
  const { kind = 50, isSigned = 1, exchange = Buffer.alloc(32, 7), more = Buffer.alloc(0) } = request;
  return Buffer.concat([
    ...[field(exchange), Buffer.of(kind), field(user), field(service), field(method)],
    ...[Buffer.of(isSigned), field(algorithm), field(blob), more],
  ]);
}
