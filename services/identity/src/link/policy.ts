// What redeeming a bind code does (docs/reference/links.md#redeem): pure.

import type { links, Role } from "@svc/proto";

/** Which kind of session server made a UUID: those of third parties are name-based, version 3 (docs/reference/session-verifier.md#answers). */
export function sourceOf(mcUuid: string): links.AuthSource {
  return mcUuid[14] === "3" ? "thirdparty" : "mojang";
}

export type BoundAccount = { role: Role; disabled: boolean; deletedAt: Date | null };
export type BindVerdict = "create" | "sign_in" | "staff_account" | "account_retired";

/** What a bind code does at sign-in, by the account that its player is linked to. */
export function decideBind(account: BoundAccount | undefined): BindVerdict {
  if (!account) return "create";
  if (account.role !== "user") return "staff_account";
  if (account.disabled || account.deletedAt) return "account_retired";
  return "sign_in";
}

export type LinkVerdict = "link" | "linked" | "already_linked" | "reauth_required";

/** What a bind code does for a signed-in account. A link is a way in, so it requires a proof. */
export function decideLink(about: {
  linkedTo: string | undefined;
  userId: string;
  isProofMissing: boolean;
}): LinkVerdict {
  if (about.linkedTo === about.userId) return "linked";
  if (about.linkedTo !== undefined) return "already_linked";
  return about.isProofMissing ? "reauth_required" : "link";
}

/**
 * The user name of an account created by a bind code: the name in the game, where it is known, and enough of the UUID that
 * nobody gets a name by it that people choose (docs/reference/links.md#redeem).
 */
export function userNameOf(mcUuid: string, gameName: string | undefined): string {
  const hex = mcUuid.replaceAll("-", "");
  const isUsable = gameName !== undefined && /^[A-Za-z0-9]\w{0,15}$/.test(gameName);
  return isUsable ? `${gameName}-${hex.slice(0, 4)}` : `mc-${hex.slice(0, 8)}`;
}
