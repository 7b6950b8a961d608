// The WebAuthn ceremonies on the library: the options for the browser, and the verification of its response.

import { randomBytes } from "node:crypto";
import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  VerifiedRegistrationResponse,
} from "@simplewebauthn/server";
import type { AttestationObject } from "@simplewebauthn/server/helpers";
import { algorithms, isUsableKey } from "./public-key.ts";
import type { RelyingParty } from "./relying-party.ts";
import { type Assertion, type Attestation, isFramed } from "./response.ts";
import type { Credential } from "./store.ts";

type Options = Record<string, unknown> & { challenge: string };

const challengeBytes = 32;

// Loaded with the first passkey: with its parsers of certificates the library takes 10 MB.
const loadLibrary = () => import("@simplewebauthn/server");

type Allowed = { id: string; transports?: Credential["transports"] };

/** Options of a login or a proof; without allowed ids the passkey names its account. */
export async function assertionOptions(
  party: RelyingParty,
  allowed: readonly Allowed[],
  timeoutMs: number,
): Promise<Options> {
  const { generateAuthenticationOptions } = await loadLibrary();
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: new Uint8Array(randomBytes(challengeBytes)),
    timeout: timeoutMs,
    userVerification: "required",
    allowCredentials: [...allowed],
  });
  return { ...options };
}

/** Options of a registration; registered passkeys are excluded. */
export async function registrationOptions(
  party: RelyingParty,
  about: { userId: string; userName: string; bound: readonly Credential[]; timeoutMs: number },
): Promise<Options> {
  const { generateRegistrationOptions } = await loadLibrary();
  const options = await generateRegistrationOptions({
    rpID: party.id,
    rpName: party.name,
    challenge: new Uint8Array(randomBytes(challengeBytes)),
    userID: new TextEncoder().encode(about.userId),
    userName: about.userName,
    timeout: about.timeoutMs,
    attestationType: "none",
    supportedAlgorithmIDs: algorithms,
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
    excludeCredentials: about.bound.map(toAllowed),
  });
  return { ...options };
}

/** A passkey as its holder's browser needs it. */
export function toAllowed({ credential_id: id, transports }: Credential): Allowed {
  return { id, transports };
}

type Verified = { counter: number; isBackedUp: boolean };

/**
 * Whether an assertion answers a challenge with a bound passkey, the person verified now and when it was bound.
 * Undefined for everything else: another origin or party, a bad signature, a counter that went back (a clone).
 */
export async function verifyAssertion(
  party: RelyingParty,
  about: { assertion: Assertion; challenge: string; credential: Credential },
): Promise<Verified | undefined> {
  const { assertion, challenge, credential } = about;
  if (!credential.user_verified || isFramed(assertion.response)) return undefined;
  const { verifyAuthenticationResponse } = await loadLibrary();
  try {
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
      response: assertion as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: party.origins,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: {
        id: credential.credential_id,
        publicKey: new Uint8Array(Buffer.from(credential.public_key, "base64")),
        counter: credential.sign_count,
      },
    });
    if (!verified || !info.userVerified) return undefined;
    // Whether a passkey can be backed up is fixed when it is created (WebAuthn 7.2).
    if ((info.credentialDeviceType === "multiDevice") !== credential.backup_eligible) return undefined;
    return { counter: info.newCounter, isBackedUp: info.credentialBackedUp };
  } catch {
    // The library throws for every kind of invalid response; none of them is revealed.
    return undefined;
  }
}

/**
 * The credential of an attestation; undefined when it does not answer the challenge or the user was not verified. No
 * manufacturer has to vouch for a device, so a statement with certificates is rejected unread.
 */
export async function verifyAttestation(
  party: RelyingParty,
  { attestation, challenge }: { attestation: Attestation; challenge: string },
): Promise<VerifiedRegistrationResponse["registrationInfo"] | undefined> {
  if (isFramed(attestation.response)) return undefined;
  const { verifyRegistrationResponse } = await loadLibrary();
  const { decodeAttestationObject } = await import("@simplewebauthn/server/helpers");
  try {
    if (!isSelfMade(decodeAttestationObject(bytesOf(attestation)))) return undefined;
    const { registrationInfo } = await verifyRegistrationResponse({
      response: attestation as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: party.origins,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!registrationInfo?.userVerified || !(await isUsableKey(registrationInfo.credential.publicKey)))
      return undefined;
    return registrationInfo;
  } catch {
    return undefined;
  }
}

function bytesOf({ response }: Attestation) {
  return new Uint8Array(Buffer.from(response.attestationObject, "base64url"));
}

function isSelfMade(decoded: AttestationObject): boolean {
  const format = decoded.get("fmt");
  return format === "none" || (format === "packed" && decoded.get("attStmt").get("x5c") === undefined);
}
