// The ceremonies of a passkey: begin, the browser's own dialog, finish (docs/reference/sign-in.md#passkeys).

import { call } from "../api/call.ts";
import { ApiError } from "../api/error.ts";

type PasskeyFault = "passkeyCancelled" | "passkeyMissing" | "passkeyTaken";

/** The person or the device broke a ceremony off. */
export class PasskeyError extends Error {
  readonly fault: PasskeyFault;

  constructor(fault: PasskeyFault) {
    super(fault);
    this.name = "PasskeyError";
    this.fault = fault;
  }
}

function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

type Json = Record<string, unknown>;

async function assertion(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return ask(() => navigator.credentials.get({ publicKey }));
}

async function attestation(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return ask(() => navigator.credentials.create({ publicKey }));
}

async function ask(run: () => Promise<Credential | null>): Promise<Json> {
  if (!canUsePasskeys()) throw new PasskeyError("passkeyMissing");
  try {
    const credential = await run();
    if (credential instanceof PublicKeyCredential) return credential.toJSON() as unknown as Json;
  } catch (error) {
    if (error instanceof DOMException && error.name === "InvalidStateError")
      throw new PasskeyError("passkeyTaken");
    if (!(error instanceof DOMException)) throw error;
  }
  throw new PasskeyError("passkeyCancelled");
}

/** Signs in with any passkey of this site that the device knows. */
export async function signInWithPasskey(): Promise<void> {
  if (!canUsePasskeys()) throw new PasskeyError("passkeyMissing");
  const { login_id, publicKey } = await call("passkeys.beginDiscoverable", {});
  await call("passkeys.finishDiscoverable", { login_id, assertion: await assertion(publicKey) });
}

/** Signs in with a passkey of the account of an address. */
export async function signInWithPasskeyOf(email: string): Promise<void> {
  if (!canUsePasskeys()) throw new PasskeyError("passkeyMissing");
  const options = await call("passkeys.beginLogin", { email });
  await call("passkeys.finishLogin", { email, assertion: await assertion(options) });
}

/** Binds a new passkey to the account that is signed in. */
export async function addPasskey(name: string): Promise<void> {
  if (!canUsePasskeys()) throw new PasskeyError("passkeyMissing");
  const options = await call("passkeys.beginRegister", {});
  await call("passkeys.finishRegister", { attestation: await attestation(options), name });
}

/** Proves with a passkey who sits here. */
export async function proveWithPasskey(): Promise<void> {
  const { publicKey } = await call("passkeys.beginReauth", {});
  await call("passkeys.finishReauth", { assertion: await assertion(publicKey) });
}

/** Confirms with a passkey that all servers of the account go to another one. */
export async function confirmTransferWithPasskey(): Promise<void> {
  if (!canUsePasskeys()) throw new PasskeyError("passkeyMissing");
  const { publicKey } = await call("accountMigrations.beginPasskey", {});
  await call("accountMigrations.finishPasskey", { assertion: await assertion(publicKey) });
}

/** Whether a failure is one that words exist for. */
export function isExpected(error: unknown): error is ApiError | PasskeyError {
  return error instanceof ApiError || error instanceof PasskeyError;
}
