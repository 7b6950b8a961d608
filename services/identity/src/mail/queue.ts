// Mails about a committed change: stored in its transaction, sent after it, retried while the relay is down.

import { isFault, type Language, shortMoment } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import { z } from "zod";
import type { Limits } from "../config.ts";
import type { IdentityDb, IdentityTrx } from "../database.ts";
import type { Mailer } from "./mailer.ts";
import { type Message, toMessage } from "./message.ts";
import { mails, passkeyOf } from "./templates.ts";

const queuedMail = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("email_changed"), facts: z.object({ newAddress: z.string() }) }),
  z.object({ kind: z.literal("email_removed"), facts: z.object({}) }),
  z.object({ kind: z.literal("codes_locked"), facts: z.object({ until: z.string() }) }),
  z.object({ kind: z.enum(["passkey_added", "passkey_removed"]), facts: z.object({ name: z.string() }) }),
  z.object({
    kind: z.enum(["identity_linked", "identity_unlinked"]),
    facts: z.object({ issuer: z.string() }),
  }),
  z.object({
    kind: z.literal("migration_issued"),
    facts: z.object({ target: z.string(), validMinutes: z.number() }),
  }),
  z.object({
    kind: z.literal("migration_done"),
    facts: z.object({ target: z.string(), servers: z.number() }),
  }),
]);
type QueuedMail = z.output<typeof queuedMail>;

export type MailQueue = {
  /** Adds a mail in the transaction of the change it is about. Without a relay nothing is stored. */
  add: (trx: IdentityTrx, mail: QueuedMail & { to: string; language: Language }) => Promise<void>;
  /** Sends queued mails soon; call it after the commit. */
  wake: () => void;
  close: () => Promise<void>;
};

type MailQueueOptions = {
  db: IdentityDb;
  mailer: Mailer;
  hasRelay: boolean;
  limits: Pick<Limits, "notice_every" | "notice_keep" | "mail_timeout">;
  now: () => Date;
  log: Logger;
};

const maxDelayMs = 3_600_000;

/** Starts the sender. Any number of replicas may run it: each mail is leased by one of them at a time. */
export function startMailQueue(options: MailQueueOptions): MailQueue {
  const { hasRelay, limits, now, log } = options;
  if (!hasRelay) return { add: async () => {}, wake: () => {}, close: async () => {} };
  const loop = startLoop((signal) => sendAll(options, signal), {
    everyMs: limits.notice_every,
    onError: (error) => log.warn({ error: error.message }, "reading the mail queue failed; retrying"),
  });
  return {
    add: async (trx, { kind, facts, to, language }) => {
      const at = now();
      await trx
        .insertInto("mail_notices")
        .values({ kind, recipient: to, language, facts: JSON.stringify(facts), next_at: at, created_at: at })
        .execute();
    },
    wake: loop.ring,
    close: loop.close,
  };
}

async function sendAll(options: MailQueueOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const leased = await leaseNext(options);
    if (!leased) return;
    await sendOne(options, leased);
  }
}

type Leased = {
  id: number;
  kind: string;
  recipient: string;
  language: Language;
  facts: unknown;
  attempts: number;
  created_at: Date;
};

// The lease outlives the longest send, so no other replica takes the mail at the same time.
async function leaseNext({ db, limits, now }: MailQueueOptions): Promise<Leased | undefined> {
  const at = now();
  return db
    .updateTable("mail_notices")
    .set({ next_at: new Date(at.getTime() + 2 * limits.mail_timeout) })
    .where("id", "=", (inner) =>
      inner
        .selectFrom("mail_notices")
        .select("id")
        .where("next_at", "<=", at)
        .orderBy("id")
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning(["id", "kind", "recipient", "language", "facts", "attempts", "created_at"])
    .executeTakeFirst();
}

async function sendOne(options: MailQueueOptions, leased: Leased): Promise<void> {
  const { db, mailer, limits, now, log } = options;
  const isStale = now().getTime() - leased.created_at.getTime() > limits.notice_keep;
  const known = queuedMail.safeParse(leased);
  const drop = () => db.deleteFrom("mail_notices").where("id", "=", leased.id).execute();
  if (!known.success || isStale) {
    log.error({ kind: leased.kind, attempts: leased.attempts }, "queued mail dropped");
    return void (await drop());
  }
  const { kind } = known.data;
  try {
    await mailer.takeBudget(kind);
    const message = messageOf(known.data, leased.language);
    await mailer.deliver(kind, { to: leased.recipient, message, requestId: `notice-${leased.id}` });
    await drop();
  } catch (error) {
    const retryAfterMs = isFault(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
    const pauseMs = Math.min(Math.max(limits.notice_every * 2 ** leased.attempts, retryAfterMs), maxDelayMs);
    await db
      .updateTable("mail_notices")
      .set({ attempts: leased.attempts + 1, next_at: new Date(now().getTime() + pauseMs) })
      .where("id", "=", leased.id)
      .execute();
  }
}

function messageOf({ kind, facts }: QueuedMail, language: Language): Message {
  return toMessage(mails[kind], language, {
    ...facts,
    ...("until" in facts && { moment: shortMoment(facts.until) }),
    ...("name" in facts && { passkey: passkeyOf(facts.name, language) }),
  });
}
