// Signatures and secrets (docs/reference/webhooks.md#signature).

import { randomBytes } from "node:crypto";
import { sign } from "../watchdog/deliver/channel.ts";

/** How long the secret before stays valid after a rotation. */
export const rotationMs = 86_400_000;

export function newSecret(): string {
  return `svc_whs_${randomBytes(32).toString("base64url")}`;
}

type Secrets = { secret: string | null; old_secret: string | null; old_secret_until: Date | null };

/** The secrets that are valid at a time, the newest first. */
export function validSecrets({ secret, old_secret, old_secret_until }: Secrets, now: number): string[] {
  if (secret === null) return [];
  const isOldValid = old_secret !== null && old_secret_until !== null && old_secret_until.getTime() > now;
  return isOldValid ? [secret, old_secret] : [secret];
}

/** The headers that sign a body: `Svc-Timestamp`, and in `Svc-Signature` one signature for each secret, with commas. */
export function signatureHeaders(
  body: string,
  { secrets, now }: { secrets: readonly string[]; now: number },
): Record<string, string> {
  if (secrets.length === 0) return {};
  const timestamp = String(Math.floor(now / 1_000));
  const signatures = secrets.map((secret) => `sha256=${sign(secret, timestamp, body)}`);
  return { "svc-timestamp": timestamp, "svc-signature": signatures.join(",") };
}
