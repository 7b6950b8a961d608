import { Fault } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import { takeToken } from "../budget/bucket.ts";
import type { IdentityDb } from "../database.ts";
import type { Events, MailKind } from "../events.ts";
import type { Letter } from "./letters.ts";
import type { Relay } from "./relay.ts";

export type Mailer = {
  /** Takes one mail from the budget of the installation. Throws `mail_rate_limited`. */
  takeBudget: (kind: MailKind) => Promise<void>;
  /** Hands one mail to the relay. Throws `mail_unavailable` without one, `mail_undeliverable` when it refuses. */
  deliver: (kind: MailKind, mail: { to: string; letter: Letter; requestId: string }) => Promise<void>;
};

export type MailerOptions = {
  db: IdentityDb;
  relay: Relay | undefined;
  budget: { perHour: number; burst: number };
  events: Pick<Events, "mail">;
  now: () => Date;
  log: Logger;
};

/** One budget for all mails of the installation, whichever replica sends them (interface.md 8). */
export function createMailer(options: MailerOptions): Mailer {
  const { db, relay, budget, events, now, log } = options;
  return {
    takeBudget: async (kind) => {
      const taken = await takeToken(db, {
        table: "mail_budgets",
        key: "installation",
        burst: budget.burst,
        perSecond: budget.perHour / 3_600,
        now: now(),
      });
      if (taken.allowed) return;
      events.mail(kind, "throttled");
      throw new Fault("mail_rate_limited", { retryAfterSeconds: taken.retryAfterSeconds });
    },
    deliver: async (kind, { to, letter, requestId }) => {
      if (!relay) throw new Fault("mail_unavailable");
      try {
        await relay.send(to, letter);
        events.mail(kind, "sent");
      } catch (error) {
        events.mail(kind, "failed");
        // The relay's own words are for the log only.
        log.warn({ request_id: requestId, kind, relay: (error as Error).message }, "a mail was not accepted");
        throw new Fault("mail_undeliverable", { cause: error });
      }
    },
  };
}
