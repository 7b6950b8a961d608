// Ways back in for those who hold the host; each one is audited in its transaction.

import { isInSetup, isStaffRole } from "../account/policy.ts";
import { hasPasskey } from "../account/store.ts";
import type { IdentityTrx } from "../database.ts";
import { mintId } from "../secret.ts";
import { savePlatformSettings } from "../setting/store.ts";
import { setupLink } from "../setup/link-file.ts";
import { createOwner, createSetupToken, findOwner, takeSetupTurn } from "../setup/store.ts";
import { hashPassword } from "../sign-in/password-hash.ts";
import { savePassword } from "../sign-in/password-store.ts";
import { auditAtHost } from "./audit.ts";
import type { Host } from "./context.ts";
import { getUser } from "./users.ts";

type Refused = { refused: "owner_can_sign_in" };
type Link = { username: string; setup_url: string; valid_minutes: number };

/** A fresh link for the first owner; refused once there is an owner who can sign in. */
export async function mintSetupLink(host: Host, origin: string): Promise<Link | Refused> {
  return inTurn(host, async (trx) => {
    const owner = await findOwner(trx);
    const hasRelay = host.settings.smtp.host !== "";
    const emailVerified = owner?.email_verified ?? false;
    const isBound = owner !== undefined && (await hasPasskey(trx, owner.id));
    const isOpen =
      owner === undefined || isInSetup({ role: "owner", emailVerified, hasPasskey: isBound }, hasRelay);
    if (!isOpen) return { refused: "owner_can_sign_in" };
    return linkFor(host, trx, { user: owner ?? (await createOwner(trx, host.now)), origin });
  });
}

/** A link for the owner, whatever ways in they have. */
export async function recoverOwner(host: Host, origin: string): Promise<Link> {
  return inTurn(host, async (trx) => {
    const owner = (await findOwner(trx)) ?? (await createOwner(trx, host.now));
    await auditAtHost(host, trx, { action: "break_glass.recovery", payload: { user_id: owner.id } });
    return linkFor(host, trx, { user: owner, origin });
  });
}

/** A new admin with a link of their own. */
export async function addOperator(
  host: Host,
  { username, origin }: { username: string; origin: string },
): Promise<Link> {
  return inTurn(host, async (trx) => {
    const created = await trx
      .insertInto("users")
      .values({ id: mintId(), username, role: "admin", created_at: host.now, updated_at: host.now })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!created) throw new Error(`the name ${username} is taken; choose another`);
    await auditAtHost(host, trx, { action: "operator_create", payload: { user_id: created.id, username } });
    return linkFor(host, trx, { user: created, origin });
  });
}

/** Enables or disables local-password sign-in. */
export async function setLocalAuth(host: Host, enabled: boolean): Promise<{ local_auth_enabled: boolean }> {
  await host.db.transaction().execute(async (trx) => {
    await savePlatformSettings(trx, { local_auth_enabled: enabled }, host.now);
    await auditAtHost(host, trx, { action: "break_glass.local_auth", payload: { enabled } });
  });
  return { local_auth_enabled: enabled };
}

/** Sets the local password. */
export async function setPassword(
  host: Host,
  { who, password }: { who: string; password: string },
): Promise<{ username: string }> {
  const user = await getUser(host, who);
  const passwordHash = await hashPassword(password);
  await host.db.transaction().execute(async (trx) => {
    await savePassword(trx, { userId: user.id, passwordHash, now: host.now });
    await auditAtHost(host, trx, { action: "break_glass.password", payload: { user_id: user.id } });
  });
  return { username: user.username };
}

/** Lets mailed codes sign a user in again. */
export async function liftLock(host: Host, who: string): Promise<{ username: string; was_locked: boolean }> {
  const user = await getUser(host, who);
  const wasLocked = await host.db.transaction().execute(async (trx) => {
    const gone = await trx
      .deleteFrom("otp_failure_windows")
      .where("user_id", "=", user.id)
      .executeTakeFirst();
    await auditAtHost(host, trx, { action: "break_glass.lift_lock", payload: { user_id: user.id } });
    return gone.numDeletedRows > 0n;
  });
  return { username: user.username, was_locked: wasLocked };
}

function inTurn<T>(host: Host, work: (trx: IdentityTrx) => Promise<T>): Promise<T> {
  return host.db.transaction().execute(async (trx) => {
    await takeSetupTurn(trx);
    return work(trx);
  });
}

async function linkFor(
  { settings, now }: Host,
  trx: IdentityTrx,
  {
    user,
    origin,
  }: { user: { id: string; username: string; role: "owner" | "admin" | "user" }; origin: string },
): Promise<Link> {
  if (!isStaffRole(user.role)) throw new Error(`${user.username} is not an operator`);
  const ttlMs = settings.identity.setup_token_ttl;
  const token = await createSetupToken(trx, { userId: user.id, now, ttlMs });
  return {
    username: user.username,
    setup_url: setupLink(origin, token),
    valid_minutes: Math.round(ttlMs / 60_000),
  };
}
