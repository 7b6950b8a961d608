// Who may be changed and how (docs/reference/accounts.md#users): pure.

import type { Role } from "@svc/proto";

export type Target = { id: string; role: Role };
type Refusal = "self_protected" | "owner_protected";

/**
 * Why a user's role may not be changed, or why they may not be disabled or deleted: the owner account is protected,
 * and so is the account of the caller.
 */
export function refusalOf(target: Target, callerId: string): Refusal | undefined {
  if (target.id === callerId) return "self_protected";
  if (target.role === "owner") return "owner_protected";
  return undefined;
}

/** The text of a search as a pattern of `like`, its own wildcards taken literally. */
export function patternOf(text: string): string {
  const literal = text.toLowerCase().replace(/[\\%_]/g, (character) => `\\${character}`);
  return `%${literal}%`;
}

/** The UUID that a search names, with or without dashes. */
export function uuidIn(text: string): string | undefined {
  const digits = text.trim().toLowerCase().replaceAll("-", "");
  if (!/^[0-9a-f]{32}$/.test(digits)) return undefined;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
