// What a browser answers in a ceremony, in the standard's JSON forms. Nothing that it claims is checked here.

import { z } from "zod";

const encoded = z
  .string()
  .max(65_536)
  .regex(/^[A-Za-z0-9_-]+=*$/);
const extensions = z.record(z.string(), z.unknown()).default({});
const credential = {
  id: encoded,
  rawId: encoded,
  type: z.literal("public-key"),
  clientExtensionResults: extensions,
};

const Assertion = z.object({
  ...credential,
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
});
export type Assertion = z.output<typeof Assertion>;

const transports = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;

const Attestation = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: encoded,
    attestationObject: encoded,
    transports: z
      .array(z.unknown())
      .max(64)
      .catch([])
      .transform((given) => transports.filter((known) => given.includes(known))),
  }),
});
export type Attestation = z.output<typeof Attestation>;

/** Undefined when it is none. */
export const parseAssertion = (value: unknown): Assertion | undefined => Assertion.safeParse(value).data;
export const parseAttestation = (value: unknown): Attestation | undefined =>
  Attestation.safeParse(value).data;

const ClientData = z.object({
  challenge: z.string().regex(/^[A-Za-z0-9_-]{1,1024}$/),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.unknown().optional(),
});

function clientDataOf({ clientDataJSON }: { clientDataJSON: string }) {
  try {
    const value: unknown = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString("utf8"));
    return ClientData.safeParse(value).data;
  } catch {
    return undefined;
  }
}

/** The challenge that the browser says it signed; undefined when it cannot be read. */
export function signedChallenge(response: { clientDataJSON: string }): string | undefined {
  return clientDataOf(response)?.challenge;
}

/** Whether the page was embedded in a frame of another site, where its origin is not visible. */
export function isFramed(response: { clientDataJSON: string }): boolean {
  const clientData = clientDataOf(response);
  return clientData?.crossOrigin === true || clientData?.topOrigin !== undefined;
}

/** The account that a passkey names; undefined when it names none. */
export function namedAccount({ response }: Assertion): string | undefined {
  if (!response.userHandle) return undefined;
  // Ids are plain; anything else belongs to no account.
  return Buffer.from(response.userHandle, "base64url").toString("latin1").replaceAll("\0", " ");
}
