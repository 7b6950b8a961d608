import type { Handler } from "@svc/mesh";
import { players, type users } from "@svc/proto";
import type { Deps } from "../deps.ts";
import { decideLock } from "../email-code/policy.ts";
import { listLinksOf, toLinkedAccount } from "../link/store.ts";
import { listLive } from "../session/store.ts";
import { toSessionView } from "../session/view.ts";
import { findFailureWindow, findUser, searchUsers } from "./store.ts";
import { type CountDeps, countServers, toUserView } from "./view.ts";

const patienceMs = 1_000;

/** Players whose names contain the text of a search: lifecycle knows them. Without it the rest is searched. */
async function findPlayers({ mesh, log }: CountDeps, query: string): Promise<string[]> {
  const asked = players.findByName.input.safeParse({ text: query.trim() });
  if (!asked.success) return [];
  const deadlineAt = Date.now() + patienceMs;
  return mesh.call(players.findByName, asked.data, { deadlineAt }).then(
    ({ mc_uuids }) => mc_uuids,
    (error: Error) => {
      log.warn({ error: error.message }, "player search failed; searching names and addresses only");
      return [];
    },
  );
}

/** identity.user.list */
export function createListUsers(deps: Pick<Deps, "db"> & CountDeps): Handler<typeof users.list> {
  return async (_context, { disabled, ...filter }) => {
    const { users: found, total } = await searchUsers(deps.db, {
      ...filter,
      players: await findPlayers(deps, filter.query ?? ""),
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
