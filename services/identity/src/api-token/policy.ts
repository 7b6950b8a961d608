// Rules of API tokens (docs/reference/api-tokens.md#token). Pure.

import { truncateAddress } from "../session/policy.ts";

export type TokenFacts = {
  expiresAt: Date;
  revokedAt: Date | null;
  disabled: boolean;
  deletedAt: Date | null;
};

/** Whoever has the secret may know why it is not valid; of an account that is gone nothing is said. */
export function decideToken(token: TokenFacts, now: Date): "live" | "unknown" | "expired" | "revoked" {
  if (token.disabled || token.deletedAt) return "unknown";
  if (token.revokedAt) return "revoked";
  return token.expiresAt <= now ? "expired" : "live";
}

/** Whether a use has to be recorded: the first, one from another address, or one a while after the last. */
export function isNewUse(
  last: { at: Date | null; address: string | null },
  use: { now: Date; address: string; everyMs: number },
): boolean {
  if (last.at === null || last.address !== truncateAddress(use.address)) return true;
  return use.now.getTime() - last.at.getTime() >= use.everyMs;
}
