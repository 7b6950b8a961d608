import type { Context, Handler } from "@svc/mesh";
import type { cliLogins } from "@svc/proto";
import { lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { decideSession } from "../session/policy.ts";
import { createSession, findSession } from "../session/store.ts";
import { payloadOf } from "./decide.ts";
import { decideFinish, type FinishVerdict, sessionTtlMs } from "./policy.ts";
import { type CliLoginRow, consume, findBySecret, lockBySecret, lockSession } from "./store.ts";

type FinishContext = Context<typeof cliLogins.finish>;
type Session = Awaited<ReturnType<typeof createSession>>;
type FoundSession = NonNullable<Awaited<ReturnType<typeof findSession>>>;
type Outcome = { verdict: FinishVerdict; approver?: FoundSession; session?: Session };

/** identity.cli-login.finish: a poll before the decision only reads. */
export function createFinish(deps: Deps): Handler<typeof cliLogins.finish> {
  return async (context, { secret }) => {
    const found = await findBySecret(deps.db, secret);
    const at = { now: deps.now(), host: hostOf(context) };
    const early = decideFinish(found, undefined, at);
    if (early === "pending") return { state: "pending" };
    if (early === "invalid") throw context.fault("cli_login_invalid");
    const { verdict, approver, session } = await deps.db
      .transaction()
      .execute((trx) => settle(deps, trx, { context, secret }));
    if (verdict === "refused") throw context.fault("cli_login_refused");
    if (!approver || !session) throw context.fault("cli_login_invalid");
    context.reply.session = { value: session.value, expires_at: session.expiresAt.toISOString() };
    return { state: "signed_in", user_id: approver.userId, role: approver.role };
  };
}

function hostOf({ client }: FinishContext) {
  return client.host ?? "player";
}

type Given = { context: FinishContext; secret: string };

/** Any outcome but `pending` spends the login and leaves an audit entry with it. */
async function settle(deps: Deps, trx: IdentityTrx, { context, secret }: Given): Promise<Outcome> {
  const now = deps.now();
  const login = await lockBySecret(trx, secret);
  const approver = login && (await lockApprover(trx, login));
  const verdict = decideFinish(
    login,
    approver && { role: approver.role, isSessionLive: isLive(deps, approver) },
    {
      now,
      host: hostOf(context),
    },
  );
  if (!login || verdict === "invalid" || verdict === "pending") return { verdict };
  await consume(trx, { secretHash: login.secretHash, now });
  const subject = {
    ...(login.decidedBy !== null && { userId: login.decidedBy }),
    ...(approver && { username: approver.username }),
  };
  const record = (what: string) =>
    recordAudit(trx, context, { action: `auth.cli_login.${what}`, ...subject, payload: payloadOf(login) });
  if (verdict !== "sign_in" || !approver) {
    await record("failed");
    return { verdict };
  }
  const { userId, door } = approver;
  // An approval is not a proof: whoever was led to approve a foreign command line must not lose the account to it.
  const minted = { userId, door, client: context.client, now, isProof: false };
  const ttlMs = sessionTtlMs(approver.expiresAt, { now, ttlMs: deps.limits.session_ttl });
  const session = await createSession(trx, { ...minted, ttlMs });
  await record("login");
  return { verdict, approver, session };
}

/** The session that approved, with its account, both locked; nothing once the account is disabled or deleted. */
async function lockApprover(
  trx: IdentityTrx,
  { decidedBy, decidedSession }: CliLoginRow,
): Promise<FoundSession | undefined> {
  if (decidedBy === null || decidedSession === null) return undefined;
  if (!(await lockLiveAccount(trx, decidedBy))) return undefined;
  await lockSession(trx, decidedSession);
  return findSession(trx, decidedSession);
}

function isLive({ limits, now }: Deps, session: FoundSession): boolean {
  const { isPasswordDoorOpen } = session;
  const at = { now: now(), staffIdleMs: limits.staff_idle, isPasswordDoorOpen };
  return decideSession(session, at) === "live";
}
