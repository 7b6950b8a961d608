import { type Account, findLiveAccount } from "../account/store.ts";
import { decideLock } from "../email-code/policy.ts";
import { listLinksOf } from "../link/store.ts";
import { listIdentities } from "../oidc/store.ts";
import { findFailureWindow, searchUsers } from "../user/store.ts";
import { toUserView } from "../user/view.ts";
import type { Host } from "./context.ts";

const listLimit = 1_000;

export async function listUsers({ db }: Host, query: string | undefined) {
  const { users, total } = await searchUsers(db, { query, limit: listLimit, offset: 0 });
  return { users: users.map(withoutServerCount), total };
}

export async function describeUser(host: Host, who: string) {
  const user = await getUser(host, who);
  const { otp_lock_failures: failures, otp_lock_window: windowMs } = host.settings.identity;
  const [links, window, identities] = await Promise.all([
    listLinksOf(host.db, user.id),
    findFailureWindow(host.db, user.id),
    listIdentities(host.db, user.id),
  ]);
  const lock = decideLock(window, host.now, { failures, windowMs });
  return {
    ...withoutServerCount(user),
    players: links.map(({ mc_uuid }) => mc_uuid),
    identities: identities.map(({ id, issuer, label, created_at, last_used_at }) => ({
      ...{ id, issuer, label, created_at: created_at.toISOString() },
      ...(last_used_at && { last_used_at: last_used_at.toISOString() }),
    })),
    ...(lock.isLocked && { code_locked_until: lock.until.toISOString() }),
  };
}

/** The live user with this name, id or verified address. Throws when there is none. */
export async function getUser({ db }: Pick<Host, "db">, who: string): Promise<Account> {
  const byId = await findLiveAccount(db, who);
  const user =
    byId ??
    (await db
      .selectFrom("users")
      .selectAll()
      .where("deleted_at", "is", null)
      .where((where) =>
        where.or([
          where(where.fn("lower", ["username"]), "=", who.toLowerCase()),
          where.and([
            where("email_verified", "=", true),
            where(where.fn("lower", ["email"]), "=", who.toLowerCase()),
          ]),
        ]),
      )
      .limit(1)
      .executeTakeFirst());
  if (!user) throw new Error(`user ${who} not found; \`svc user list\` lists all users`);
  return user;
}

// Only lifecycle knows how many servers a user owns, and host commands use the database alone.
function withoutServerCount(user: Account) {
  const { server_count: _unasked, ...view } = toUserView(user, 0);
  return view;
}
