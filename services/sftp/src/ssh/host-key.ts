// The host key: an ed25519 key derived from the secret of the installation, so that all replicas have the same one.

import { createPrivateKey, createPublicKey, hash, hkdfSync } from "node:crypto";

type HostKey = {
  /** In the format of OpenSSH. */
  privateKey: string;
  /** As `ssh-keygen -l` prints it. */
  fingerprint: string;
};

const info = "svc sftp host key";
/** PKCS #8 of an ed25519 key, without the 32 bytes of its seed. */
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex");

export function deriveHostKey(secret: string): HostKey {
  const seed = Buffer.from(hkdfSync("sha256", secret, "", info, 32));
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const point = Buffer.from(x, "base64url");
  const blob = Buffer.concat([field("ssh-ed25519"), field(point)]);
  return {
    privateKey: openSshText(Buffer.concat([seed, point]), { blob, point }),
    fingerprint: `SHA256:${hash("sha256", blob, "base64").slice(0, 43)}`,
  };
}

// PROTOCOL.key of OpenSSH: no cipher, one key, and a check number that stands there twice.
function openSshText(pair: Buffer, { blob, point }: { blob: Buffer; point: Buffer }): string {
  const check = Buffer.alloc(8);
  const open = Buffer.concat([check, field("ssh-ed25519"), field(point), field(pair), field("svc")]);
  const padding = Buffer.from(Array.from({ length: (8 - (open.length % 8)) % 8 }, (_, index) => index + 1));
  const file = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    ...[field("none"), field("none"), field(""), Buffer.of(0, 0, 0, 1), field(blob)],
    field(Buffer.concat([open, padding])),
  ]);
  const lines = file.toString("base64").match(/.{1,70}/g) ?? [];
  return ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join(
    "\n",
  );
}

function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
