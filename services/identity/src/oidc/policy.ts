// Rules of sign-in with an OpenID provider (docs/reference/sign-in.md#oidc). Pure.

import type { FaceHost, Role } from "@svc/proto";
import { isStaffRole } from "../account/policy.ts";
import type { OidcProvider } from "../oidc-provider.ts";

/** What a verified ID token says. */
export type Claims = Readonly<Record<string, unknown>>;

type LoginFacts = {
  host: FaceHost;
  expiresAt: Date;
  userId: string | null;
  session: string | null;
};
/** Who came back: nobody in particular at a sign-in, an account in its session to link an identity. */
type Returning = { now: Date; host: FaceHost; userId: string | null; session: string | null };

/** Whether a browser is the one that was sent: unknown, expired and foreign logins are indistinguishable. */
export function isExpected(login: LoginFacts | undefined, back: Returning): login is LoginFacts {
  if (!login || login.expiresAt <= back.now || login.host !== back.host) return false;
  return login.userId === back.userId && login.session === back.session;
}

type RoleRules = Pick<OidcProvider, "roles">;
type RoleFacts = {
  role: Role;
  /** This identity gave the role at an earlier sign-in. */
  gaveAdmin: boolean;
  /** Another identity of the account gave it, too. */
  isGivenElsewhere: boolean;
};
export type RolePlan = { role: Role; gaveAdmin: boolean };

/**
 * | account now | claims say admin | claims do not |
 * |---|---|---|
 * | owner | owner | owner |
 * | admin by claims | admin, also by this identity | user; admin while another identity gives it |
 * | admin by hand | admin | admin |
 * | user | admin by this identity | user |
 *
 * The owner is never touched, so that claims cannot leave the installation without staff.
 */
export function decideRole(account: RoleFacts, claims: Claims, { roles }: RoleRules): RolePlan {
  if (account.role === "owner") return { role: "owner", gaveAdmin: false };
  const isGiven = roles.some(({ claim, value }) => valuesOf(claims, claim).includes(value));
  if (account.role === "user") return { role: isGiven ? "admin" : "user", gaveAdmin: isGiven };
  const isByClaims = account.gaveAdmin || account.isGivenElsewhere;
  if (!isByClaims || isGiven) return { role: "admin", gaveAdmin: isByClaims };
  return { role: account.isGivenElsewhere ? "admin" : "user", gaveAdmin: false };
}

/** The texts of a claim: a text, or those of a list. A name that is no claim is a path into objects. */
export function valuesOf(claims: Claims, name: string): string[] {
  const found = Object.hasOwn(claims, name) ? claims[name] : follow(claims, name.split("."));
  return (Array.isArray(found) ? found : [found]).filter((value) => typeof value === "string");
}

function follow(claims: Claims, path: readonly string[]): unknown {
  let found: unknown = claims;
  for (const step of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}

type StaffRules = Pick<OidcProvider, "staff_amr" | "staff_acr">;

/** Staff need a second factor here as at the other ways in: the provider must have vouched for one. */
export function mayEnter(role: Role, claims: Claims, { staff_amr, staff_acr }: StaffRules): boolean {
  if (!isStaffRole(role)) return true;
  const has = (claim: string, wanted: readonly string[]) =>
    valuesOf(claims, claim).some((value) => wanted.includes(value));
  return has("amr", staff_amr) || has("acr", staff_acr);
}

type SignUpRules = Pick<OidcProvider, "allow_sign_up" | "sign_up_domains">;

/** Whether somebody without an account gets one. An address that an account has is never taken over, and none is stored. */
export function maySignUp(
  { address, isTaken }: { address: string | undefined; isTaken: boolean },
  { allow_sign_up, sign_up_domains }: SignUpRules,
): boolean {
  if (!allow_sign_up || isTaken) return false;
  if (sign_up_domains.length === 0) return true;
  const at = address?.lastIndexOf("@") ?? -1;
  return address !== undefined && sign_up_domains.includes(address.slice(at + 1).toLowerCase());
}

/** The address that the provider has verified. */
export function verifiedAddress({ email, email_verified }: Claims): string | undefined {
  return typeof email === "string" && email_verified === true ? email : undefined;
}

const labelLength = 64;

/** What the provider calls the person: for recognition, never for a decision. */
export function labelOf({ preferred_username, email, name }: Claims): string {
  const found = [preferred_username, email, name].find((value) => typeof value === "string" && value !== "");
  return [
    ...String(found ?? "")
      .replace(/\p{C}/gu, "")
      .trim(),
  ]
    .slice(0, labelLength)
    .join("");
}

/** A user name for a new account: the provider's in plain letters, or one of its own. */
export function userNameFor({ preferred_username: name }: Claims, providerId: string): string {
  const plain = typeof name === "string" ? name.replace(/@.*$/s, "").replace(/[^A-Za-z0-9._-]/g, "") : "";
  return /^[A-Za-z0-9][A-Za-z0-9._-]{2,31}$/.test(plain) ? plain : `${providerId}-user`;
}

type OtherWays = {
  role: Role;
  hasPasskey: boolean;
  isMailable: boolean;
  hasPlayer: boolean;
  /** Other identities at providers of the settings. */
  otherIdentities: number;
};

/** Whether an account that loses an identity can still be entered. A game code lets no staff in. */
export function hasAnotherWay(ways: OtherWays): boolean {
  if (ways.hasPasskey || ways.isMailable) return true;
  return !isStaffRole(ways.role) && (ways.hasPlayer || ways.otherIdentities > 0);
}
