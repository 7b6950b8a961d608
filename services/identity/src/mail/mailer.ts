import { Fault } from "@svc/proto";
import type { Message, OpenRelay, Relay } from "@svc/smtp";
import type { Logger } from "@svc/telemetry";
import {
  type Asking,
  type MailRates,
  sharesOf,
  takeInstallation,
  takeReserve,
  takeShares,
} from "../budget/mail.ts";
import type { Limits } from "../config.ts";
import type { IdentityDb } from "../database.ts";
import type { Events, MailKind } from "../events.ts";

export type Mailer = {
  /** Takes one mail from the budget of the installation. Throws `mail_rate_limited`. */
  takeBudget: (kind: MailKind) => Promise<void>;
  /** Takes one mail from the shares of the requester and of the recipient. Throws `mail_rate_limited`. */
  takeShares: (kind: MailKind, asking: Asking) => Promise<void>;
  /** As `takeBudget`, from the reserve of staff and the watchdog. Throws `mail_rate_limited`. */
  takeReserve: (kind: MailKind) => Promise<void>;
  /** Opens the relay before the address is looked up. Throws as `deliver`. */
  open: (kind: MailKind, about: { to: string; requestId: string }) => Promise<OpenRelay>;
  /** Sends one mail to the relay. Throws `mail_unavailable` without one, `mail_undeliverable` when it refuses. */
  deliver: (kind: MailKind, mail: Mail, opened?: OpenRelay) => Promise<void>;
};

type Mail = { to: string; message: Message; requestId: string };

type MailerOptions = {
  db: IdentityDb;
  relay: Relay | undefined;
  budget: MailRates;
  limits: Limits;
  events: Pick<Events, "mail">;
  now: () => Date;
  log: Logger;
};

export function createMailer(options: MailerOptions): Mailer {
  const { db, relay, budget, limits, events, now, log } = options;
  const admit = (kind: MailKind, taken: Awaited<ReturnType<typeof takeShares>>) => {
    if (taken.allowed) return;
    events.mail(kind, "throttled");
    throw new Fault("mail_rate_limited", { retryAfterSeconds: taken.retryAfterSeconds });
  };
  const trying = async <T>(kind: MailKind, requestId: string, work: (relay: Relay) => Promise<T>) => {
    if (!relay) throw new Fault("mail_unavailable");
    return work(relay).catch((error: unknown) => {
      events.mail(kind, "failed");
      // The relay's reply goes to the log only.
      log.warn(
        { request_id: requestId, kind, relay: (error as Error).message },
        "mail relay rejected a mail",
      );
      throw new Fault("mail_undeliverable", { cause: error });
    });
  };
  return {
    takeBudget: async (kind) => admit(kind, await takeInstallation(db, budget, now())),
    takeShares: async (kind, asking) =>
      admit(kind, await takeShares(db, sharesOf(asking, budget, limits), now())),
    takeReserve: async (kind) => admit(kind, await takeReserve(db, limits, now())),
    open: (kind, { to, requestId }) => trying(kind, requestId, (known) => known.open(to)),
    deliver: async (kind, { to, message, requestId }, opened) => {
      await trying(kind, requestId, (known) => (opened ?? known).send(to, message));
      events.mail(kind, "sent");
    },
  };
}
