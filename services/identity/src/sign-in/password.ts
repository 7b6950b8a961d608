import type { Context, Handler } from "@svc/mesh";
import { Fault, type signIn } from "@svc/proto";
import { takeToken } from "@svc/store";
import { type Account, lockLiveAccount } from "../account/store.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { sha256 } from "../secret.ts";
import { createSession } from "../session/store.ts";
import { isPassword } from "./password-hash.ts";
import { findByUsername } from "./password-store.ts";
import { isPasswordDoorOpen } from "./store.ts";

const wrong = "The user name or the password is wrong.";

/** identity.sign-in.password: a wrong name takes as long as a wrong password, and gets the same answer. */
export function createPasswordLogin(deps: Deps): Handler<typeof signIn.passwordLogin> {
  const { db, events } = deps;
  return async (context, { username, password }) => {
    if (!(await isPasswordDoorOpen(db))) throw context.fault("local_auth_disabled");
    await takeTry(deps, username);
    const account = await findByUsername(db, username);
    const isRight = await isPassword(password, account?.password_hash);
    if (!account || !isRight) {
      const subject = account && { userId: account.id, username: account.username };
      const reason = account ? "bad_password" : "no_account";
      events.signInFailed(context, { door: "password", reason, ...subject });
      throw context.fault("unauthorized", { message: wrong });
    }
    const session = await db.transaction().execute((trx) => mint(deps, trx, { account, context }));
    if (!session) throw context.fault("unauthorized", { message: wrong });
    context.reply.session = { value: session.value, expires_at: session.expiresAt.toISOString() };
    return { user_id: account.id, role: account.role };
  };
}

type Minting = { account: Account; context: Context<typeof signIn.passwordLogin> };

/** Undefined when the account or its password changed during the check, which takes a while. */
async function mint({ limits, now, events }: Deps, trx: IdentityTrx, { account, context }: Minting) {
  const current = await lockLiveAccount(trx, account.id);
  if (current?.password_hash !== account.password_hash) return undefined;
  const { id: userId, username } = account;
  const { client } = context;
  const minted = { userId, door: "password", client, now: now(), isProof: false } as const;
  const session = await createSession(trx, { ...minted, ttlMs: limits.password_session_ttl });
  await events.signedIn(trx, context, { door: "password", userId, username });
  return session;
}

/** The budget of one user name, known or unknown, over all clients. */
async function takeTry({ db, limits, now }: Deps, username: string): Promise<void> {
  const taken = await takeToken(db, {
    table: "sign_in_budgets",
    key: `password:${sha256(username)}`,
    burst: limits.password_burst,
    perSecond: limits.password_per_hour / 3_600,
    now: now(),
  });
  if (taken.allowed) return;
  throw new Fault("rate_limited", {
    message: "Too many attempts with this user name; wait and try again.",
    retryAfterSeconds: taken.retryAfterSeconds,
  });
}
