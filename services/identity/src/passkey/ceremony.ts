// The WebAuthn ceremonies on the library: what is asked of the browser, and whether what came back is true.

import { randomBytes } from "node:crypto";
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type VerifiedRegistrationResponse,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { z } from "zod";
import type { RelyingParty } from "./relying-party.ts";
import type { Credential } from "./store.ts";

type Options = Record<string, unknown> & { challenge: string };

/** EdDSA, ES256, RS256. Pinned: newer ones would bind passkeys that older releases cannot check (toolchain.md 6). */
const algorithms = [-8, -7, -257];
const challengeBytes = 32;

/** Options of a login or a proof; no credentials at all let the passkey say whose it is. */
export async function assertionOptions(
  party: RelyingParty,
  credentials: readonly Pick<Credential, "credential_id" | "transports">[],
  timeoutMs: number,
): Promise<Options> {
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: new Uint8Array(randomBytes(challengeBytes)),
    timeout: timeoutMs,
    userVerification: "required",
    allowCredentials: credentials.map(({ credential_id: id, transports }) => ({ id, transports })),
  });
  return { ...options };
}

/** Options of a registration; what is bound already is not offered again. */
export async function registrationOptions(
  party: RelyingParty,
  about: { userId: string; userName: string; bound: readonly Credential[]; timeoutMs: number },
): Promise<Options> {
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
    excludeCredentials: about.bound.map(({ credential_id: id, transports }) => ({ id, transports })),
  });
  return { ...options };
}

const encoded = z.string().min(1).max(65_536);
const extensions = z.record(z.string(), z.unknown()).default({});

const Assertion = z.object({
  id: encoded,
  rawId: encoded,
  type: z.literal("public-key"),
  response: z.object({
    clientDataJSON: encoded,
    authenticatorData: encoded,
    signature: encoded,
    userHandle: z
      .string()
      .max(1_024)
      .nullish()
      .transform((handle) => handle ?? undefined),
  }),
  clientExtensionResults: extensions,
});
export type Assertion = z.output<typeof Assertion>;

const Attestation = z.object({
  id: encoded,
  rawId: encoded,
  type: z.literal("public-key"),
  response: z.object({
    clientDataJSON: encoded,
    attestationObject: encoded,
    transports: z.array(z.string().max(32)).max(16).optional().catch(undefined),
  }),
  clientExtensionResults: extensions,
});
export type Attestation = z.output<typeof Attestation>;

/** Undefined when it is none; what it claims is not checked here. */
export const parseAssertion = (value: unknown): Assertion | undefined => Assertion.safeParse(value).data;
export const parseAttestation = (value: unknown): Attestation | undefined =>
  Attestation.safeParse(value).data;

/** The challenge that the browser says it signed; undefined when it cannot be read. */
export function signedChallenge({ clientDataJSON }: { clientDataJSON: string }): string | undefined {
  try {
    const told: unknown = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString("utf8"));
    return z.object({ challenge: z.string().min(1).max(1_024) }).safeParse(told).data?.challenge;
  } catch {
    return undefined;
  }
}

/** The account that a discoverable passkey names; undefined when it names none. */
export function namedAccount({ response }: Assertion): string | undefined {
  if (!response.userHandle) return undefined;
  return Buffer.from(response.userHandle, "base64url").toString("utf8");
}

export type Verified = { counter: number; isBackedUp: boolean };

/**
 * Whether an assertion answers a challenge with a bound passkey, the person verified now and when it was bound.
 * Undefined for everything else: another origin or party, a bad signature, a counter that went back (a clone).
 */
export async function verifyAssertion(
  party: RelyingParty,
  about: { assertion: Assertion; challenge: string; credential: Credential },
): Promise<Verified | undefined> {
  const { assertion, challenge, credential } = about;
  if (!credential.user_verified) return undefined;
  try {
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
      response: assertion as Parameters<typeof verifyAuthenticationResponse>[0]["response"],
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
    return { counter: info.newCounter, isBackedUp: info.credentialBackedUp };
  } catch {
    // The library throws for every way in which it can be wrong; none of them is told.
    return undefined;
  }
}

/** What an attestation binds; undefined when it does not answer the challenge or nobody was verified. */
export async function verifyAttestation(
  party: RelyingParty,
  { attestation, challenge }: { attestation: Attestation; challenge: string },
): Promise<VerifiedRegistrationResponse["registrationInfo"] | undefined> {
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: attestation as Parameters<typeof verifyRegistrationResponse>[0]["response"],
      expectedChallenge: challenge,
      expectedOrigin: party.origins,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    return registrationInfo?.userVerified ? registrationInfo : undefined;
  } catch {
    return undefined;
  }
}
