// Mails that other services send through identity, which owns the relay and the budget (docs/reference/sign-in.md#mail-budget).

import { z } from "zod";
import { request } from "../contract.ts";
import { languages } from "../language.ts";
import { EmailAddress, Timestamp } from "../text.ts";

export const sendNotice = request({
  subject: "identity.notice.send",
  input: {
    user_id: z.string().min(1).max(64),
    kind: z.enum([
      "world-idle-3d",
      "world-idle-1d",
      "world-reclaimed",
      "backup-corrupt",
      "submission-approved",
      "submission-rejected",
      "build-succeeded",
      "build-failed",
      "server-crashed",
      "server-crash-loop",
      "server-hung",
      "webhook-gone",
      "webhook-failing",
      "webhook-access-ended",
    ]),
    /** Values that the mail contains: plain words by key, such as `server` and `at`. */
    facts: z.record(z.string().max(64), z.string().max(512)),
  },
  output: z.strictObject({
    /** `suppressed`: no relay, no verified address or a disabled account; nothing will be sent. */
    result: z.enum(["delivered", "suppressed"]),
    reason: z.string().optional(),
  }),
  faults: ["mail_rate_limited", "mail_undeliverable"],
  callers: ["storage", "builds", "ops-watchdog", "lifecycle"],
  deadlineMs: 30_000,
  summary: "Mails an account's verified address now, in its language.",
  spec: "docs/reference/reaper.md#warnings",
});

export const sendInvitation = request({
  subject: "identity.notice.send-invitation",
  input: {
    email: EmailAddress,
    /** The account that invites; it and the address have a budget. */
    user_id: z.string().min(1).max(64),
    server: z.string().max(63),
    expires_at: Timestamp,
  },
  output: z.strictObject({
    /** `suppressed`: no relay or no address of the panel; it never says whether there is an account. */
    result: z.enum(["delivered", "suppressed"]),
  }),
  faults: ["mail_rate_limited", "mail_undeliverable"],
  callers: ["lifecycle"],
  deadlineMs: 20_000,
  summary: "Mails an invitation to a server to any address, in the language of the account that has it.",
  spec: "docs/reference/shared-access.md#mail",
});

/** Somebody who is mailed about the platform itself. */
export const StaffRecipient = z.strictObject({ address: z.string(), language: z.enum(languages) });
export type StaffRecipient = z.output<typeof StaffRecipient>;

export const listStaffRecipients = request({
  subject: "identity.notice.list-staff-recipients",
  input: {},
  output: z.strictObject({ recipients: z.array(StaffRecipient) }),
  callers: ["ops-watchdog", "operator"],
  idempotent: true,
  summary: "Verified addresses of the enabled owner accounts, whom the watchdog mails by itself.",
  spec: "docs/reference/alerts.md#recipients",
});
