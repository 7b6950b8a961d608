import type { z } from "zod";
import type { smtpSection } from "./smtp-section.ts";

/** How the relay is reached. */
export type RelaySettings = {
  host: string;
  port: number;
  from: string;
  username: string;
  password: string;
  /** Whether a relay without transport security is refused. */
  requireTls: boolean;
  /** TLS from the first byte instead of STARTTLS. */
  implicitTls: boolean;
  /** Longest time of one mail. */
  timeoutMs: number;
};

/** The relay of a section, or undefined when it names none. The password comes from the variable that it names. */
export function relaySettings(
  mail: z.output<typeof smtpSection>,
  timeoutMs: number,
  env: NodeJS.ProcessEnv = process.env,
): RelaySettings | undefined {
  if (mail.host === "") return undefined;
  return {
    host: mail.host,
    port: mail.port,
    from: mail.from,
    username: mail.username,
    password: env[mail.password_ref] ?? "",
    requireTls: mail.require_tls ?? !isLoopback(mail.host),
    implicitTls: mail.port === 465,
    timeoutMs,
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
