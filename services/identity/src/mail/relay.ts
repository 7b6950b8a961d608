// The SMTP relay (behaviour.md d): implicit TLS on port 465, STARTTLS elsewhere.

import { createTransport } from "nodemailer";
import type { RelaySettings } from "../config.ts";
import { isPlainAddress } from "./address.ts";
import type { Letter } from "./letters.ts";

export type Relay = { send: (to: string, letter: Letter) => Promise<void> };

const stepTimeoutMs = 10_000;

/** Each mail has a connection of its own: they are few, and a kept one would only go stale. */
export function createRelay(settings: RelaySettings): Relay {
  const stepMs = Math.min(stepTimeoutMs, settings.timeoutMs);
  const transport = createTransport({
    host: settings.host,
    port: settings.port,
    secure: settings.port === 465,
    requireTLS: settings.requireTls,
    // Where security is not asked for, an unknown certificate is no worse than no TLS at all.
    tls: { rejectUnauthorized: settings.requireTls, minVersion: "TLSv1.2" },
    ...(settings.username !== "" && { auth: { user: settings.username, pass: settings.password } }),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async (to, { subject, text, html }) => {
      if (!isPlainAddress(to)) throw new Error("the recipient is not one plain address");
      const sending = transport.sendMail({
        // An envelope of our own: the address is never parsed as a list.
        envelope: { from: bareAddress(settings.from), to: [to] },
        from: settings.from,
        to: { name: "", address: to },
        subject,
        text,
        html,
        headers: { "Auto-Submitted": "auto-generated" },
      });
      await within(sending, settings.timeoutMs);
    },
  };
}

/** `svc <svc@example.org>` names its mailbox in angle brackets. */
function bareAddress(from: string): string {
  return /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from.trim();
}

async function within(work: Promise<unknown>, limitMs: number): Promise<void> {
  const { promise: timeUp, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`the relay took over ${limitMs} ms`)), limitMs);
  try {
    await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
