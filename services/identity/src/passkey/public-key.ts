// The key of a passkey as it will be used: one of the pinned algorithms, of its kind, and really a key.

import { createPublicKey } from "node:crypto";

/** EdDSA, ES256, RS256. Pinned: newer ones would bind passkeys that older releases cannot check. */
export const algorithms = [-8, -7, -257];

const rsaBits = { min: 2_048, max: 8_192 };

/** False for a key that could be bound but never be signed in with, or that is easy to break. */
export async function isUsableKey(bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const { decodeCredentialPublicKey } = await import("@simplewebauthn/server/helpers");
  try {
    const jwk = toJwk(decodeCredentialPublicKey(bytes) as unknown as Map<number, unknown>);
    if (!jwk) return false;
    // Refuses a point that is not on its curve.
    const { asymmetricKeyDetails: details } = createPublicKey({ key: jwk, format: "jwk" });
    const bits = details?.modulusLength;
    return bits === undefined || (bits >= rsaBits.min && bits <= rsaBits.max);
  } catch {
    return false;
  }
}

// RFC 9053 and 8230: 1 = key type, 3 = algorithm, the others by type.
function toJwk(key: Map<number, unknown>) {
  const text = (label: number) => {
    const value = key.get(label);
    return value instanceof Uint8Array ? Buffer.from(value).toString("base64url") : "";
  };
  const [type, algorithm, curve] = [key.get(1), key.get(3), key.get(-1)];
  if (type === 1 && algorithm === -8 && curve === 6) return { kty: "OKP", crv: "Ed25519", x: text(-2) };
  if (type === 2 && algorithm === -7 && curve === 1)
    return { kty: "EC", crv: "P-256", x: text(-2), y: text(-3) };
  if (type === 3 && algorithm === -257) return { kty: "RSA", n: text(-1), e: text(-2) };
  return undefined;
}
