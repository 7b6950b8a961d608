// Mailing a code to the address of a signed-in person: lock, cooldown, budget, mint, send (docs/reference/sign-in.md#codes).

import { Fault } from "@svc/proto";
import { findLanguage } from "../account/store.ts";
import type { CodePurpose } from "../database.ts";
import type { Deps } from "../deps.ts";
import type { Mailer } from "../mail/mailer.ts";
import { codeMessage } from "../mail/templates.ts";
import { mintCode } from "../secret.ts";
import { decideLock, secondsUntil } from "./policy.ts";
import {
  dropCode,
  findFailures,
  type Reservation,
  release,
  reservationKeys,
  reserve,
  saveCode,
  spendCodes,
} from "./store.ts";

type CodeRequest = { userId: string; email: string; purpose: CodePurpose; requestId: string };

export type SendCode = (request: CodeRequest) => Promise<{ expiresAt: Date }>;

/**
 * Throws `otp_account_locked`, `otp_resend_cooldown`, `mail_rate_limited` or `mail_undeliverable`. A failure after the
 * reservation releases it, so that the next attempt need not wait, and leaves an earlier code valid.
 */
export function createSendCode(deps: Omit<Deps, "events"> & { mailer: Mailer }): SendCode {
  const { db, limits } = deps;
  return async (request) => {
    const now = deps.now();
    await refuseLocked(deps, request.userId, now);
    const reservation: Reservation = {
      keys: reservationKeys(request.userId, request.email),
      freeAt: new Date(now.getTime() + limits.otp_resend),
    };
    const answer = await reserve(db, { ...reservation, now });
    if (!answer.reserved)
      throw new Fault("otp_resend_cooldown", { retryAfterSeconds: secondsUntil(answer.freeAt, now) });
    try {
      return await mintAndSend(deps, request, now);
    } catch (error) {
      await release(db, reservation);
      throw error;
    }
  };
}

async function refuseLocked(deps: Pick<Deps, "db" | "limits">, userId: string, now: Date): Promise<void> {
  const { otp_lock_failures: failures, otp_lock_window: windowMs } = deps.limits;
  const lock = decideLock(await findFailures(deps.db, userId), now, { failures, windowMs });
  if (lock.isLocked) throw new Fault("otp_account_locked", { retryAfterSeconds: lock.retryAfterSeconds });
}

async function mintAndSend(
  { db, limits, mailer }: Omit<Deps, "events"> & { mailer: Mailer },
  request: CodeRequest,
  now: Date,
): Promise<{ expiresAt: Date }> {
  const { userId, email, purpose } = request;
  await mailer.takeShares("code", { access: "signed-in", recipient: email, caller: userId });
  await mailer.takeBudget("code");
  const code = mintCode();
  const expiresAt = new Date(now.getTime() + limits.otp_ttl);
  const id = await saveCode(db, { userId, email, code, purpose, now, expiresAt });
  try {
    const message = codeMessage(
      { code, validMinutes: Math.ceil(limits.otp_ttl / 60_000), purpose },
      await findLanguage(db, userId),
    );
    await mailer.deliver("code", { to: email, message, requestId: request.requestId });
  } catch (error) {
    await dropCode(db, id);
    throw error;
  }
  await spendCodes(db, { userId, purpose, now, except: id });
  return { expiresAt };
}
