// What a signed-in person reads of their own account (docs/reference/sign-in.md#doors, docs/reference/accounts.md#me).

import type { Handler } from "@svc/mesh";
import { type accounts, Fault, isFault } from "@svc/proto";
import { toSetupState } from "../account/setup-state.ts";
import { findLiveAccount, findNames, findUsable, hasPasskey } from "../account/store.ts";
import type { Deps } from "../deps.ts";
import { findPlayersOf } from "../link/store.ts";
import { getAccount } from "../principal.ts";

/** identity.account.me: staff rights are shown only where they apply, on the operator console host. */
export function createMe({ db }: Deps): Handler<typeof accounts.me> {
  return async (context) => {
    const { user_id: userId, staff: isStaff } = getAccount(context.principal);
    const account = await findLiveAccount(db, userId).catch((error: unknown) => {
      if (isFault(error) && error.fault === "unavailable") throw context.fault("auth_unavailable");
      throw error;
    });
    if (!account) throw new Fault("unauthorized");
    return {
      user_id: account.id,
      username: account.username,
      email: account.email ?? "",
      role: account.role,
      is_admin: isStaff,
      is_owner: isStaff && account.role === "owner",
      email_verified: account.email_verified,
    };
  };
}

/** identity.setup.status */
export function createSetupStatus({ db, hasRelay }: Deps): Handler<typeof accounts.setupStatus> {
  return async (context) => {
    const account = await findLiveAccount(db, getAccount(context.principal).user_id);
    if (!account) throw context.fault("not_found", { message: "This account no longer exists." });
    return toSetupState(account, { hasRelay, hasPasskey: await hasPasskey(db, account.id) });
  };
}

/** identity.account.describe */
export function createDescribeAccounts({ db }: Deps): Handler<typeof accounts.describeAccounts> {
  return async (_context, { user_ids }) => {
    const [usable, players] = await Promise.all([findUsable(db, user_ids), findPlayersOf(db, user_ids)]);
    const described = Object.entries(usable).map(([id, account]) => [
      id,
      { ...account, mc_uuids: players[id] ?? [] },
    ]);
    return { accounts: Object.fromEntries(described) };
  };
}

/** identity.account.name */
export function createNameAccounts({ db }: Deps): Handler<typeof accounts.nameAccounts> {
  return async (_context, { user_ids }) => ({
    names: await findNames(db, user_ids),
    players: await findPlayersOf(db, user_ids),
  });
}
