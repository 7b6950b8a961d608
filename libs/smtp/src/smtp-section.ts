// The section `[smtp]` of the configuration file (docs/reference/settings.md).

import { section } from "@svc/config";
import { z } from "zod";

/** How mails are sent; every service that sends some reads the same. */
export const smtpSection = section({
  /** Empty = no mail. */
  host: z.string().default(""),
  /** Port of the relay; 465 speaks TLS from the first byte, others STARTTLS. */
  port: z.number().int().min(1).max(65_535).default(587),
  /** Sender of mails; required with a host. */
  from: z.string().default(""),
  /** Name to sign in at the relay with; empty = no sign-in. */
  username: z.string().default(""),
  /** Name of the environment variable that holds the password. */
  password_ref: z.string().default("SVC_SMTP_PASSWORD"),
  /** 0 = 120. */
  max_per_hour: z.number().int().min(0).default(0),
  /** Whether a relay without TLS is refused; unset = unless it is on loopback. */
  require_tls: z.boolean().optional(),
}).refine((mail) => mail.host === "" || mail.from.includes("@"), {
  path: ["from"],
  message: "must be an e-mail address when host is set",
});
