import type { Context, Handler } from "@svc/mesh";
import type { signIn } from "@svc/proto";
import { isSameAddress } from "../account/address.ts";
import { isStaffRole } from "../account/policy.ts";
import { type Account, findByVerifiedEmail } from "../account/store.ts";
import type { IdentityTrx } from "../database.ts";
import { mailLockout, recordLockout } from "../email-code/lockout.ts";
import { spendCodes } from "../email-code/store.ts";
import { type CodeOutcome, verifyCode } from "../email-code/verify.ts";
import { createSession } from "../session/store.ts";
import type { SignInDeps } from "./deps.ts";
import { recordMiss } from "./store.ts";

const purpose = "sign_in";
type VerifyContext = Context<typeof signIn.verifyEmail>;
type Session = Awaited<ReturnType<typeof createSession>>;
type Settled = { account?: Account | undefined; tried: CodeOutcome; session?: Session };

/** identity.sign-in.verify-email: a wrong code commits too, because it counts. */
export function createVerifyEmail(deps: SignInDeps): Handler<typeof signIn.verifyEmail> {
  return async (context, { email, code }) => {
    const settled = await deps.db.transaction().execute((trx) => settle(deps, trx, { context, email, code }));
    const { tried, session } = settled;
    if (tried.kind !== "right") throw refusal(deps, context, settled);
    const { id: userId, username, role } = tried.account;
    if (!session) {
      deps.events.signInFailed(context, { door: "email", reason: "staff_account", userId, username });
      throw context.fault("staff_account", {
        message: "Staff sign in at the operator console: POST /api/v1/auth/op-login/start.",
      });
    }
    context.reply.session = { value: session.value, expires_at: session.expiresAt.toISOString() };
    return { user_id: userId, role };
  };
}

type Given = { context: VerifyContext; email: string; code: string };

async function settle(deps: SignInDeps, trx: IdentityTrx, { context, email, code }: Given): Promise<Settled> {
  const { limits } = deps;
  const now = deps.now();
  const account = await findByVerifiedEmail(trx, email);
  const userId = account?.id ?? "";
  const tried = await verifyCode(deps, trx, { userId, purpose, code, liveCodes: limits.otp_live_codes });
  if (tried.kind === "right" && isSameAddress(tried.email, tried.account.email)) {
    await spendCodes(trx, { userId, purpose, now });
    if (isStaffRole(tried.account.role)) return { account, tried };
    const minted = { userId, door: "email", client: context.client, now, isProof: true } as const;
    const session = await createSession(trx, { ...minted, ttlMs: limits.session_ttl });
    await deps.events.signedIn(trx, context, { door: "email", userId, username: tried.account.username });
    return { account, tried, session };
  }
  if (tried.kind !== "wrong") await recordMiss(trx, { key: email.toLowerCase(), now });
  await recordLockout(deps, trx, { requester: context, tried, purpose });
  return { account, tried: tried.kind === "right" ? { kind: "no_code" } : tried };
}

function refusal(deps: SignInDeps, context: VerifyContext, { account, tried }: Settled) {
  const subject = account && { userId: account.id, username: account.username };
  deps.events.signInFailed(context, {
    door: "email",
    reason: account ? "bad_code" : "no_account",
    ...subject,
  });
  mailLockout(deps.mailQueue, tried);
  return context.fault("invalid_code");
}
