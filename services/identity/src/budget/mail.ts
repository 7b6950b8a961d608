// Which shares of the installation's mail budget a mail is charged to (docs/reference/sign-in.md#mail-budget).

import { type Bucket, countTokens, type Taken, takeToken } from "@svc/store";
import type { Limits } from "../config.ts";
import type { IdentityDb } from "../database.ts";
import { sha256 } from "../secret.ts";

export type MailRates = { perHour: number; burst: number };

/**
 * Public and signed-in endpoints have separate shares, so that anonymous requests cannot use up those of an account; so have
 * invitations, so that nobody learns from theirs who asked for codes.
 */
type Access = "public" | "signed-in" | "invitation";
export type Asking = {
  access: Access;
  recipient: string;
  /** The requester: a client address or an account. */
  caller: string;
};

type Share = { key: string; burst: number; perHour: number };

/** The shares that a requested code is charged to. */
export function sharesOf({ access, recipient, caller }: Asking, rates: MailRates, limits: Limits): Share[] {
  const part = limits.mail_caller_share;
  return [
    {
      key: `${access} to ${sha256(recipient.toLowerCase())}`,
      burst: limits.mail_recipient_burst,
      perHour: limits.mail_recipient_per_hour,
    },
    {
      key: `${access} by ${caller}`,
      burst: Math.max(1, Math.ceil(rates.burst * part)),
      perHour: Math.max(1, rates.perHour * part),
    },
  ];
}

/** Takes one mail from every share, or from none and says how long to wait. */
export async function takeShares(db: IdentityDb, shares: readonly Share[], now: Date): Promise<Taken> {
  return db
    .transaction()
    .execute(async (trx) => {
      for (const share of shares) {
        const taken = await takeToken(trx, toBucket(share, now));
        if (!taken.allowed) throw new Refused(taken);
      }
      return { allowed: true } as Taken;
    })
    .catch((error: unknown) => {
      if (error instanceof Refused) return error.taken;
      throw error;
    });
}

/** Takes one mail from the budget of the installation, which all replicas share (docs/reference/sign-in.md#mail-budget). */
export function takeInstallation(db: IdentityDb, rates: MailRates, now: Date): Promise<Taken> {
  return takeToken(db, toBucket({ key: "installation", ...rates }, now));
}

/** How many mails of the installation may be sent now. */
export function countInstallationLeft(db: IdentityDb, rates: MailRates, now: Date): Promise<number> {
  return countTokens(db, toBucket({ key: "installation", ...rates }, now));
}

/** Takes one mail from the reserve of staff and the watchdog. */
export function takeReserve(db: IdentityDb, limits: Limits, now: Date): Promise<Taken> {
  const { mail_reserve_burst: burst, mail_reserve_per_hour: perHour } = limits;
  return takeToken(db, toBucket({ key: "reserve", burst, perHour }, now));
}

function toBucket({ key, burst, perHour }: Share, now: Date): Bucket {
  return { table: "mail_budgets", key, burst, perSecond: perHour / 3_600, now };
}

// Rolls back the shares that were charged before the exhausted one.
class Refused extends Error {
  readonly taken: Taken;
  constructor(taken: Taken) {
    super("a share is exhausted");
    this.taken = taken;
  }
}
