// A software authenticator and its browser: real keys, real attestation and assertion bytes (WebAuthn 6, 7).
// A test passes in what a hostile one sends instead as a forgery.

import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from "node:crypto";
import { bytesOf, encode } from "./cbor.ts";
import { certify } from "./device-certificate.ts";

export type Algorithm = "ES256" | "EdDSA";

/** Bits of the authenticator data (WebAuthn 6.1). */
export const flag = { present: 1, verified: 4, eligible: 8, backedUp: 16, attested: 64 } as const;

/** Differences from an honest response. */
export type Forgery = {
  origin?: string;
  rpId?: string;
  type?: string;
  challenge?: string;
  crossOrigin?: boolean;
  topOrigin?: string;
  flags?: number;
  /** The claimed sign count. */
  counter?: number;
  userHandle?: string | undefined;
  /** Signs with another key. */
  isForged?: boolean;
  /** Changes the response after it was signed. */
  tamper?: (response: Record<string, unknown>) => Record<string, unknown>;
};
export type ForgedAttestation = Forgery & {
  format?: "none" | "packed" | "tpm" | "apple";
  statement?: Record<string, unknown>;
  /** A manufacturer certificate is attached. */
  isCertified?: boolean;
  /** COSE number of the claimed algorithm; default that of the key. */
  claimedAlgorithm?: number;
  /** The complete attestation object. */
  object?: Buffer;
};

/** The JSON forms of the standard, as far as the tests need them. */
export type CreationOptions = { challenge: string; rp: { id: string }; user: { id: string } };
export type RequestOptions = { challenge: string; rpId: string };
type Credential = {
  id: string;
  rawId: string;
  type: "public-key";
  response: Record<string, unknown>;
  clientExtensionResults: Record<string, unknown>;
};

export type Authenticator = ReturnType<typeof createAuthenticator>;

const cose: Record<Algorithm, number> = { ES256: -7, EdDSA: -8 };

/** One passkey on one device. `origin` is the page that the browser shows. */
export function createAuthenticator(about: { origin: string; algorithm?: Algorithm; isCounting?: boolean }) {
  const { origin, algorithm = "ES256", isCounting = true } = about;
  const device: Device = {
    id: randomBytes(16),
    aaguid: randomBytes(16),
    algorithm,
    keys: newKeys(algorithm),
  };
  const id = device.id.toString("base64url");
  let counter = 0;
  let userHandle: string | undefined;
  const answer = (response: Record<string, unknown>, forgery: Forgery): Credential => {
    const sent = forgery.tamper?.(response) ?? response;
    return { id, rawId: id, type: "public-key", response: sent, clientExtensionResults: {} };
  };
  return {
    id,
    register: (options: CreationOptions, forgery: ForgedAttestation = {}): Credential => {
      userHandle = options.user.id;
      const client = clientData({ type: "webauthn.create", challenge: options.challenge, origin }, forgery);
      const object =
        forgery.object ?? attestationObject(device, client, { rpId: options.rp.id, counter, ...forgery });
      const response = {
        clientDataJSON: client.toString("base64url"),
        attestationObject: object.toString("base64url"),
        transports: ["internal", "hybrid"],
      };
      return answer(response, forgery);
    },
    assert: (options: RequestOptions, forgery: Forgery = {}): Credential => {
      if (isCounting) counter += 1;
      const client = clientData({ type: "webauthn.get", challenge: options.challenge, origin }, forgery);
      const flags = forgery.flags ?? flag.present | flag.verified;
      const data = head(forgery.rpId ?? options.rpId, flags, forgery.counter ?? counter);
      const handle = "userHandle" in forgery ? forgery.userHandle : userHandle;
      const response = {
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: signed(device, data, { client, isForged: forgery.isForged ?? false }).toString(
          "base64url",
        ),
        ...(handle !== undefined && { userHandle: handle }),
      };
      return answer(response, forgery);
    },
  };
}

type Device = { id: Buffer; aaguid: Buffer; algorithm: Algorithm; keys: Keys };

function clientData(honest: { type: string; challenge: string; origin: string }, forgery: Forgery): Buffer {
  const { type = honest.type, challenge = honest.challenge, origin = honest.origin } = forgery;
  const { crossOrigin = false, topOrigin } = forgery;
  const received = { type, challenge, origin, crossOrigin, ...(topOrigin !== undefined && { topOrigin }) };
  return Buffer.from(JSON.stringify(received));
}

function signed(device: Device, data: Buffer, about: { client: Buffer; isForged: boolean }): Buffer {
  const { algorithm, keys } = device;
  const { privateKey } = about.isForged ? newKeys(algorithm) : keys;
  const bytes = Buffer.concat([data, sha256(about.client)]);
  return sign(algorithm === "EdDSA" ? null : "sha256", bytes, privateKey);
}

type Told = ForgedAttestation & { rpId: string; counter: number };

function attestationObject(device: Device, client: Buffer, received: Told): Buffer {
  const { id, aaguid, algorithm, keys } = device;
  const publicKey = encode(coseKey(keys.publicKey, algorithm, received.claimedAlgorithm));
  const flags = received.flags ?? flag.present | flag.verified | flag.attested;
  const attested = Buffer.concat([aaguid, uint16(id.length), id, publicKey]);
  const data = Buffer.concat([head(received.rpId, flags, received.counter), attested]);
  const signature = signed(device, data, { client, isForged: received.isForged ?? false });
  const self = { alg: cose[algorithm], sig: signature };
  const format = received.format ?? "none";
  const statement = received.statement ?? (format === "packed" ? self : {});
  if (received.isCertified) {
    const attStmt = certify(Buffer.concat([data, sha256(client)]));
    return encode({ fmt: "packed", attStmt, authData: data });
  }
  return encode({ fmt: format, attStmt: statement, authData: data });
}

/** A base64url text with one character replaced. */
export function bent(text: unknown, at = 20): string {
  const given = String(text);
  return `${given.slice(0, at)}${given[at] === "A" ? "B" : "A"}${given.slice(at + 1)}`;
}

type Keys = { privateKey: KeyObject; publicKey: KeyObject };

function newKeys(algorithm: Algorithm): Keys {
  return algorithm === "EdDSA"
    ? generateKeyPairSync("ed25519")
    : generateKeyPairSync("ec", { namedCurve: "P-256" });
}

// RFC 9053: 1 = key type, 3 = algorithm, -1 = curve, -2 and -3 = coordinates.
function coseKey(key: KeyObject, algorithm: Algorithm, received = cose[algorithm]): Map<number, unknown> {
  const { x, y } = key.export({ format: "jwk" });
  if (algorithm === "EdDSA")
    return new Map<number, unknown>([
      [1, 1],
      [3, received],
      [-1, 6],
      [-2, bytesOf(x)],
    ]);
  return new Map<number, unknown>([
    [1, 2],
    [3, received],
    [-1, 1],
    [-2, bytesOf(x)],
    [-3, bytesOf(y)],
  ]);
}

function head(rpId: string, flags: number, counter: number): Buffer {
  const rest = Buffer.alloc(5);
  rest.writeUInt8(flags, 0);
  rest.writeUInt32BE(counter, 1);
  return Buffer.concat([sha256(Buffer.from(rpId)), rest]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function sha256(bytes: Buffer): Buffer {
  return hash("sha256", bytes, "buffer");
}
