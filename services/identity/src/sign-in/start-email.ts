import type { Context, Handler } from "@svc/mesh";
import type { signIn } from "@svc/proto";
import { findByVerifiedEmail } from "../account/store.ts";
import { decideLock } from "../email-code/policy.ts";
import { findFailures } from "../email-code/store.ts";
import type { SignInDeps } from "./deps.ts";
import { mailCode } from "./mail-code.ts";
import { type Admitted, requestCode } from "./request-code.ts";

type StartContext = Context<typeof signIn.startEmail>;

/** identity.sign-in.start-email */
export function createStartEmail(deps: SignInDeps): Handler<typeof signIn.startEmail> {
  return async (context, { email }) => {
    const { client, requestId } = context;
    const admitted = await requestCode(deps, { purpose: "sign_in", email, client, requestId });
    deps.background.run("mailing a code failed", () => mailSignInCode(deps, context, { email, admitted }), {
      request_id: requestId,
    });
    return { sent: true, expires_at: admitted.expiresAt.toISOString() };
  };
}

type Request = { email: string; admitted: Admitted };

async function mailSignInCode(
  deps: SignInDeps,
  { requestId }: StartContext,
  request: Request,
): Promise<void> {
  const { relay, expiresAt } = request.admitted;
  if (!relay) return;
  try {
    const account = await findByVerifiedEmail(deps.db, request.email);
    if (!account || (await isLocked(deps, account.id))) return;
    await mailCode(deps, { account, purpose: "sign_in", expiresAt, relay, requestId });
  } finally {
    relay.close();
  }
}

async function isLocked({ db, limits, now }: SignInDeps, userId: string): Promise<boolean> {
  const { otp_lock_failures: failures, otp_lock_window: windowMs } = limits;
  return decideLock(await findFailures(db, userId), now(), { failures, windowMs }).isLocked;
}
