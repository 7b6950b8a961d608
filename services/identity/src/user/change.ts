import type { Context, Handler } from "@svc/mesh";
import { Fault, type users } from "@svc/proto";
import { isPlainAddress } from "@svc/smtp";
import { violates } from "@svc/store";
import { isSameAddress } from "../account/address.ts";
import type { Account } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { getAccount } from "../principal.ts";
import { revokeSessions } from "../session/store.ts";
import { refusalOf } from "./policy.ts";
import { endAccount } from "./retire.ts";
import { forgetGivenRole, insertUser, lockUser, type UserChange, updateUser } from "./store.ts";
import { type CountDeps, countServers, toUserView } from "./view.ts";

/** identity.user.create */
export function createCreateUser(deps: Deps): Handler<typeof users.create> {
  return async (context, { username, role, email }) => {
    assertAddress(email);
    const create = async (trx: IdentityTrx) => {
      const user = await insertUser(trx, { username, role, email: email ?? null, now: deps.now() });
      const payload = { user_id: user.id, username, role };
      await recordAudit(trx, context, { action: "user.create", payload });
      return user;
    };
    const user = await deps.db.transaction().execute(create).catch(usernameTaken);
    return toUserView(user, 0);
  };
}

/** identity.user.patch */
export function createPatchUser(deps: Deps & CountDeps): Handler<typeof users.patch> {
  return async (context, { id, ...change }) => {
    assertAddress(change.email);
    const user = await deps.db
      .transaction()
      .execute(async (trx) => {
        const patched = await patchUser(deps, trx, { context, id, change });
        const payload = { user_id: id, changed: Object.keys(change) };
        await recordAudit(trx, context, { action: "user.update", payload });
        return patched;
      })
      .catch(usernameTaken);
    const countOf = await countServers(deps, [id]);
    return toUserView(user, countOf(id));
  };
}

type Patch = {
  context: Context<typeof users.patch>;
  id: string;
  change: { username?: string | undefined; email?: string | undefined; role?: "admin" | "user" | undefined };
};

async function patchUser(deps: Deps, trx: IdentityTrx, { context, id, change }: Patch): Promise<Account> {
  const caller = getAccount(context.principal);
  const user = await lockUser(trx, id);
  if (!user) throw context.fault("not_found", { message: "User not found." });
  const isRoleChange = change.role !== undefined && change.role !== user.role;
  const refusal = isRoleChange ? refusalOf(user, caller.user_id) : undefined;
  if (refusal) throw context.fault(refusal);
  const isEmailChange = change.email !== undefined && !isSameAddress(user.email, change.email);
  if (isEmailChange && id === caller.user_id)
    await requireReauth(deps, trx, { account: user, session: caller.session });
  const columns: UserChange = {
    ...(change.username !== undefined && { username: change.username }),
    ...(change.role !== undefined && { role: change.role }),
    ...(isEmailChange && { email: change.email ?? null, email_verified: false }),
  };
  if (Object.keys(columns).length === 0) return user;
  const changed = await updateUser(trx, id, columns);
  // What a session may do hangs on the role it was opened with.
  if (isRoleChange) {
    await forgetGivenRole(trx, id);
    await revokeSessions(trx, { userId: id, now: deps.now() });
  }
  return changed;
}

/** identity.user.disable */
export function createDisableUser(deps: Deps): Handler<typeof users.disable> {
  const { db, now } = deps;
  return async (context, { id, disabled }) => {
    const caller = getAccount(context.principal);
    await db.transaction().execute(async (trx) => {
      const user = await lockUser(trx, id);
      if (!user) throw context.fault("not_found", { message: "User not found." });
      const refusal = disabled ? refusalOf(user, caller.user_id) : undefined;
      if (refusal) throw context.fault(refusal);
      await updateUser(trx, id, { disabled });
      const count = disabled ? await endAccount(trx, { userId: id, by: "disabled", now: now() }) : 0;
      await deps.events.sessionsRevoked(trx, context, { count, action: "user.session.revoke" });
      const action = disabled ? "user.disable" : "user.enable";
      await recordAudit(trx, context, { action, payload: { user_id: id } });
    });
    return { id, disabled };
  };
}

function assertAddress(email: string | undefined): void {
  if (email === undefined || isPlainAddress(email)) return;
  throw new Fault("bad_request", { message: "email: must be an e-mail address" });
}

/** Turns the two constraints on names into their fault; for a contract that declares it. */
function usernameTaken(error: unknown): never {
  if (violates(error, "users_username_key") || violates(error, "users_username_folded")) {
    throw new Fault("username_taken");
  }
  throw error;
}
