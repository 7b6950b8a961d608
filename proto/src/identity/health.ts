// What the watchdog asks identity about its own work (docs/reference/alerts.md#conditions).

import { z } from "zod";
import { request } from "../contract.ts";

export const IdentityHealth = z.strictObject({
  /** Mails that may be sent now; absent without a relay. */
  mails_left: z.number().int().min(0).optional(),
  /** Mails that wait for the relay for more than 10 minutes. */
  mails_waiting: z.number().int().min(0),
});
export type IdentityHealth = z.output<typeof IdentityHealth>;

export const readIdentityHealth = request({
  subject: "identity.health.read",
  input: {},
  output: IdentityHealth,
  callers: ["ops-watchdog", "operator"],
  idempotent: true,
  summary: "What is left of the mail budget and which mails wait, for the watchdog.",
  spec: "docs/reference/alerts.md#conditions",
});
