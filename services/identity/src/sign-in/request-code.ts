// Requesting a code at a public endpoint. Before the answer the account is not looked up: the reservation,
// the budget and the relay are the same for all addresses; everything else happens after the answer (docs/reference/sign-in.md#no-oracle).

import type { Client } from "@svc/proto";
import { Fault } from "@svc/proto";
import { isPlainAddress, type OpenRelay } from "@svc/smtp";
import { networkOf } from "../budget/network.ts";
import type { Deps } from "../deps.ts";
import { release } from "../email-code/store.ts";
import type { Mailer } from "../mail/mailer.ts";
import { reservationKey, reserveAddress, type SignInPurpose } from "./store.ts";

type RequestedCode = { purpose: SignInPurpose; email: string; client: Client; requestId: string };

export type Admitted = {
  expiresAt: Date;
  /** Absent within the cooldown of the address: then nothing is mailed. */
  relay?: OpenRelay;
  /** False when the common budget is used up and only the reserve of staff is left. */
  isPaid: boolean;
};

/** Throws `mail_unavailable`, `mail_rate_limited` or `mail_undeliverable`, and then releases the reservation. */
export async function requestCode(
  deps: Deps & { mailer: Mailer },
  request: RequestedCode,
): Promise<Admitted> {
  const { db, limits, mailer } = deps;
  const { purpose, email, requestId } = request;
  if (!deps.hasRelay) throw new Fault("mail_unavailable");
  if (!isPlainAddress(email)) throw new Fault("bad_request", { message: "email: must be an e-mail address" });
  const now = deps.now();
  const key = reservationKey(purpose, email);
  const freeAt = new Date(now.getTime() + limits.otp_resend);
  const expiresAt = new Date(now.getTime() + limits.otp_ttl);
  const place = await reserveAddress(db, { key, freeAt, expiresAt, now });
  if (!("taken" in place)) return { expiresAt: place.expiresAt, isPaid: false };
  try {
    const caller = networkOf(request.client.address, 4);
    await mailer.takeShares("code", { access: "public", recipient: email, caller });
    const isPaid = await pay(mailer, purpose);
    const relay = await mailer.open("code", { to: email, requestId });
    return { expiresAt, relay, isPaid };
  } catch (error) {
    await release(db, { keys: [key], freeAt });
    throw error;
  }
}

// Operator logins have a reserve for real staff only, which is checked after the answer.
async function pay(mailer: Mailer, purpose: SignInPurpose): Promise<boolean> {
  try {
    await mailer.takeBudget("code");
    return true;
  } catch (error) {
    if (purpose === "op_login" && error instanceof Fault && error.fault === "mail_rate_limited") return false;
    throw error;
  }
}
