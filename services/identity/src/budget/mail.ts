// Whose share of the installation's mails a letter is taken from (docs/reference/sign-in.md#mail-budget).

import type { Limits } from "../config.ts";
import type { IdentityDb } from "../database.ts";
import { sha256 } from "../secret.ts";
import { type Bucket, type Taken, takeToken } from "./token-bucket.ts";

export type MailRates = { perHour: number; burst: number };

/** Public and signed-in doors have shares apart, so that nobody can use up those of a person who is signed in. */
export type Door = "public" | "signed-in";
export type Asking = {
  door: Door;
  recipient: string;
  /** Who asks: a client address or an account. */
  caller: string;
};

type Share = { key: string; burst: number; perHour: number };

/** The shares that a code asked for by somebody is taken from. */
export function sharesOf({ door, recipient, caller }: Asking, rates: MailRates, limits: Limits): Share[] {
  const part = limits.mail_caller_share;
  return [
    {
      key: `${door} to ${sha256(recipient.toLowerCase())}`,
      burst: limits.mail_recipient_burst,
      perHour: limits.mail_recipient_per_hour,
    },
    {
      key: `${door} by ${caller}`,
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

/** One mail of the installation, whichever replica sends it (docs/reference/sign-in.md#mail-budget). */
export function takeInstallation(db: IdentityDb, rates: MailRates, now: Date): Promise<Taken> {
  return takeToken(db, toBucket({ key: "installation", ...rates }, now));
}

/** One mail of those kept for staff and the watchdog. */
export function takeReserve(db: IdentityDb, limits: Limits, now: Date): Promise<Taken> {
  const { mail_reserve_burst: burst, mail_reserve_per_hour: perHour } = limits;
  return takeToken(db, toBucket({ key: "reserve", burst, perHour }, now));
}

function toBucket({ key, burst, perHour }: Share, now: Date): Bucket {
  return { table: "mail_budgets", key, burst, perSecond: perHour / 3_600, now };
}

// Rolls the shares back that were taken before the one that is used up.
class Refused extends Error {
  readonly taken: Taken;
  constructor(taken: Taken) {
    super("a share is used up");
    this.taken = taken;
  }
}
