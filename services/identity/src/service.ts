// Table of contents: which handler answers which contract, and the loops that run beside them.

import { accounts } from "@svc/proto";
import type { Running, Runtime } from "@svc/service";
import { consumeAudit } from "./audit/consume.ts";
import { createRefusals } from "./audit/refusals.ts";
import { createTakeSignInBudget } from "./budget/sign-in.ts";
import { adminOrigin, mailBudget, relaySettings, type Settings } from "./config.ts";
import type { Tables } from "./database.ts";
import type { Deps } from "./deps.ts";
import { createEnterEmail } from "./email-address/enter.ts";
import { createStartEmail } from "./email-address/start.ts";
import { createVerifyEmail } from "./email-address/verify.ts";
import { createSendCode } from "./email-code/send.ts";
import { createEvents } from "./events.ts";
import { createFindLink, createListLinks } from "./link/find.ts";
import { serveLinks } from "./link/serve.ts";
import { createMailer } from "./mail/mailer.ts";
import { startNotices } from "./mail/queue.ts";
import { createRelay } from "./mail/relay.ts";
import { serveNotices } from "./notice/send.ts";
import { servePasskeys } from "./passkey/serve.ts";
import { serveQuotas } from "./quota/serve.ts";
import { serveReauth } from "./reauth/serve.ts";
import { startRetention } from "./retention/loop.ts";
import { serveSelfService } from "./self-service/serve.ts";
import { serveAccountMigrations } from "./server-transfer/serve.ts";
import type { Serving } from "./service-deps.ts";
import { createResolve } from "./session/resolve.ts";
import { serveSessionVerifier } from "./session-verifier/serve.ts";
import { serveSettings } from "./setting/serve.ts";
import { ensureOwner } from "./setup/ensure-owner.ts";
import { createRedeem } from "./setup/redeem.ts";
import { serveSignIn } from "./sign-in/serve.ts";
import { startDeletions } from "./user/remove.ts";
import { serveUsers } from "./user/serve.ts";

export type IdentityRuntime = Pick<
  Runtime<Settings, Tables>,
  "settings" | "log" | "registry" | "mesh" | "store"
> & {
  /** The clock; the real one unless a test moves it. */
  now?: () => Date;
};

/** Starts identity on a connected mesh and a checked schema. */
export async function startIdentity(runtime: IdentityRuntime): Promise<Running> {
  const { settings, log, mesh, registry, store } = runtime;
  const now = runtime.now ?? (() => new Date());
  const { db } = store;
  const limits = settings.identity;
  const relayed = relaySettings(settings);
  const relay = relayed && createRelay(relayed);
  const noteRefusal = createRefusals({ db, now, spanMs: limits.refusal_audit_every, log });
  const events = createEvents({ mesh, registry, noteRefusal });
  const deps: Deps = { db, limits, now, events, hasRelay: relay !== undefined };
  const mailer = createMailer({ db, relay, budget: mailBudget(settings), limits, events, now, log });

  await ensureOwner({ ...deps, origin: adminOrigin(settings), log });
  const notices = startNotices({ db, mailer, hasRelay: deps.hasRelay, limits, now, log });
  const retention = startRetention({
    db,
    ages: { expiredKeepMs: limits.expired_keep, auditKeepMs: settings.audit.retention },
    firstMs: limits.retention_first,
    everyMs: limits.retention_every,
    now,
    log,
  });
  const sendCode = createSendCode({ ...deps, mailer });
  const serving: Serving = { mesh, deps, settings, mailer, notices, sendCode, registry, log };
  serveAccounts(serving);
  const doors = serveSignIn(serving);
  serveSelfService(serving);
  servePasskeys(serving);
  serveReauth(serving);
  serveLinks(serving);
  const migrations = serveAccountMigrations(serving);
  serveUsers(serving);
  serveQuotas(serving);
  serveSettings(serving);
  serveSessionVerifier(serving);
  serveNotices(serving);
  await consumeAudit({ mesh, db });
  const deletions = startDeletions(serving);
  return {
    stop: async () => {
      await doors.settle();
      await Promise.all([notices.close(), retention.close(), deletions.close(), migrations.close()]);
    },
  };
}

function serveAccounts({ mesh, deps, notices, sendCode }: Serving): void {
  mesh.serve(accounts.redeemSetup, createRedeem(deps));

  mesh.serve(accounts.resolveSession, createResolve(deps));

  mesh.serve(accounts.startEmail, createStartEmail({ ...deps, sendCode }));
  mesh.serve(accounts.enterEmail, createEnterEmail({ ...deps, notices }));
  mesh.serve(accounts.verifyEmail, createVerifyEmail({ ...deps, notices }));

  mesh.serve(accounts.takeSignInBudget, createTakeSignInBudget(deps));
  mesh.serve(accounts.findLink, createFindLink(deps));
  mesh.serve(accounts.listLinks, createListLinks(deps));
}
