import type { Context, Handler } from "@svc/mesh";
import type { signIn } from "@svc/proto";
import { isStaffRole } from "../../account/policy.ts";
import { findByVerifiedEmail } from "../../account/store.ts";
import { mintId } from "../../secret.ts";
import type { SignInDeps } from "../deps.ts";
import { mailCode } from "../mail-code.ts";
import { type Admitted, requestCode } from "../request-code.ts";
import { saveOpLogin } from "./store.ts";

type StartContext = Context<typeof signIn.startOpLogin>;

/** identity.op-login.start: whoever is not staff gets a handle that stands for nothing. */
export function createStartOpLogin(deps: SignInDeps): Handler<typeof signIn.startOpLogin> {
  return async (context, { email }) => {
    const { client, requestId } = context;
    const id = mintId();
    const admitted = await requestCode(deps, { purpose: "op_login", email, client, requestId });
    deps.background.run("mailing a code failed", () => openRequest(deps, context, { id, email, admitted }), {
      request_id: requestId,
    });
    return { request_id: id, expires_at: admitted.expiresAt.toISOString() };
  };
}

type Request = { id: string; email: string; admitted: Admitted };

/** A request is opened within the cooldown too: codes that were mailed earlier work for it. */
async function openRequest(deps: SignInDeps, context: StartContext, request: Request): Promise<void> {
  const { db, events, mailer } = deps;
  const { relay, expiresAt, isPaid } = request.admitted;
  try {
    const account = await findByVerifiedEmail(db, request.email);
    if (!account || !isStaffRole(account.role)) {
      const reason = account ? "not_staff" : "no_account";
      const subject = account && { userId: account.id, username: account.username };
      return events.signInFailed(context, { door: "op_login", reason, ...subject });
    }
    await saveOpLogin(db, { id: request.id, account, client: context.client, now: deps.now(), expiresAt });
    if (!relay) return;
    if (!isPaid) await mailer.takeReserve("code");
    const { requestId } = context;
    await mailCode(deps, { account, purpose: "op_login", expiresAt, relay, requestId });
  } finally {
    relay?.close();
  }
}
