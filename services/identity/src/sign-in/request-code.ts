// Asking for a code at a public door. Up to the answer nobody looks whether the address has an account: its place,
// the budget and the relay are the same for all addresses, and everything else happens after the answer (docs/reference/sign-in.md#no-oracle).

import type { Client } from "@svc/proto";
import { Fault } from "@svc/proto";
import { networkOf } from "../budget/network.ts";
import type { Deps } from "../deps.ts";
import { release } from "../email-code/store.ts";
import { isPlainAddress } from "../mail/address.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { OpenRelay } from "../mail/relay.ts";
import { reservationKey, reserveAddress, type SignInPurpose } from "./store.ts";

export type RequestedCode = { purpose: SignInPurpose; email: string; client: Client; requestId: string };

export type Admitted = {
  expiresAt: Date;
  /** Absent within the wait of the address: then nothing is mailed. */
  relay?: OpenRelay;
  /** False when the budget of all is used up and only what is kept for staff is left. */
  isPaid: boolean;
};

/** Throws `mail_unavailable`, `mail_rate_limited` or `mail_undeliverable`, and then gives the wait back. */
export async function requestCode(deps: Deps & { mailer: Mailer }, asked: RequestedCode): Promise<Admitted> {
  const { db, limits, mailer } = deps;
  const { purpose, email, requestId } = asked;
  if (!deps.hasRelay) throw new Fault("mail_unavailable");
  if (!isPlainAddress(email)) throw new Fault("bad_request", { message: "email: must be an e-mail address" });
  const now = deps.now();
  const key = reservationKey(purpose, email);
  const freeAt = new Date(now.getTime() + limits.otp_resend);
  const expiresAt = new Date(now.getTime() + limits.otp_ttl);
  const place = await reserveAddress(db, { key, freeAt, expiresAt, now });
  if (!("taken" in place)) return { expiresAt: place.expiresAt, isPaid: false };
  try {
    const caller = networkOf(asked.client.address, 4);
    await mailer.takeShares("code", { door: "public", recipient: email, caller });
    const isPaid = await pay(mailer, purpose);
    const relay = await mailer.open("code", { to: email, requestId });
    return { expiresAt, relay, isPaid };
  } catch (error) {
    await release(db, { keys: [key], freeAt });
    throw error;
  }
}

// Operator logins have a reserve, which only real staff may touch: whether they do shows after the answer.
async function pay(mailer: Mailer, purpose: SignInPurpose): Promise<boolean> {
  try {
    await mailer.takeBudget("code");
    return true;
  } catch (error) {
    if (purpose === "op_login" && error instanceof Fault && error.fault === "mail_rate_limited") return false;
    throw error;
  }
}
