import type { Handler } from "@svc/mesh";
import type { users } from "@svc/proto";
import type { Deps } from "../deps.ts";
import { decideLock } from "../email-code/policy.ts";
import { listLinksOf, toLinkedAccount } from "../link/store.ts";
import { listLive } from "../session/store.ts";
import { toSessionView } from "../session/view.ts";
import { findFailureWindow, findUser, searchUsers } from "./store.ts";
import { type CountDeps, countServers, toUserView } from "./view.ts";

/** identity.user.list */
export function createListUsers(deps: Pick<Deps, "db"> & CountDeps): Handler<typeof users.list> {
  return async (_context, { disabled, ...filter }) => {
    const { users: found, total } = await searchUsers(deps.db, {
      ...filter,
      disabled: disabled === undefined ? undefined : disabled === "true",
    });
    const countOf = await countServers(
      deps,
      found.map(({ id }) => id),
    );
    return { users: found.map((user) => toUserView(user, countOf(user.id))), total };
  };
}

/** identity.user.read */
export function createReadUser(deps: Deps & CountDeps): Handler<typeof users.read> {
  const { db, limits, now } = deps;
  return async (context, { id }) => {
    const user = await findUser(db, id);
    if (!user) throw context.fault("not_found", { message: "User not found." });
    const [links, window, countOf] = await Promise.all([
      listLinksOf(db, id),
      findFailureWindow(db, id),
      countServers(deps, [id]),
    ]);
    const about = { failures: limits.otp_lock_failures, windowMs: limits.otp_lock_window };
    const lock = decideLock(window, now(), about);
    return {
      ...toUserView(user, countOf(id)),
      ...(user.deleted_at && { deleted_at: user.deleted_at.toISOString() }),
      ...(links.length > 0 && {
        linked_accounts: links.map(toLinkedAccount),
      }),
      ...(lock.isLocked && { code_locked_until: lock.until.toISOString() }),
    };
  };
}

/** identity.user.list-sessions */
export function createListUserSessions(deps: Deps): Handler<typeof users.listSessions> {
  const { db, limits, now } = deps;
  return async (context, { id }) => {
    if (!(await findUser(db, id))) throw context.fault("not_found", { message: "User not found." });
    const rows = await listLive(db, { userId: id, now: now(), limit: limits.session_list_limit });
    return { sessions: rows.map((row) => toSessionView(row)) };
  };
}
