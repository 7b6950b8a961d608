// Table of contents: which handler answers which contract, and the loops that run beside them.

import { accounts, identityHealth } from "@svc/proto";
import type { Running, Runtime } from "@svc/service";
import { createRelay, relaySettings } from "@svc/smtp";
import { serveApiTokens } from "./api-token/serve.ts";
import { consumeAudit } from "./audit/consume.ts";
import { createRefusals } from "./audit/refusals.ts";
import { createBackground } from "./background.ts";
import { createTakeSignInBudget } from "./budget/sign-in.ts";
import { serveCliLogins } from "./cli-login/serve.ts";
import { adminOrigin, mailBudget, type Settings } from "./config.ts";
import type { Tables } from "./database.ts";
import type { Deps } from "./deps.ts";
import { createEnterEmail } from "./email-address/enter.ts";
import { createStartEmail } from "./email-address/start.ts";
import { createVerifyEmail } from "./email-address/verify.ts";
import { createSendCode } from "./email-code/send.ts";
import { createEvents } from "./events.ts";
import { createReadHealth } from "./health/read.ts";
import { createLastUses } from "./last-uses.ts";
import { createFindLink, createListLinks } from "./link/find.ts";
import { serveLinks } from "./link/serve.ts";
import { createMailer } from "./mail/mailer.ts";
import { startMailQueue } from "./mail/queue.ts";
import { serveNotices } from "./notice/send.ts";
import { serveOidc } from "./oidc/serve.ts";
import { servePasskeys } from "./passkey/serve.ts";
import { serveQuotas } from "./quota/serve.ts";
import { serveReauth } from "./reauth/serve.ts";
import { startRetention } from "./retention/loop.ts";
import { serveSelfService } from "./self-service/serve.ts";
import { serveServerTransfers } from "./server-transfer/serve.ts";
import type { ServiceDeps } from "./service-deps.ts";
import { createResolve } from "./session/resolve.ts";
import { serveSessionVerifier } from "./session-verifier/serve.ts";
import { serveSettings } from "./setting/serve.ts";
import { ensureOwner } from "./setup/ensure-owner.ts";
import { createRedeem } from "./setup/redeem.ts";
import { serveSignIn } from "./sign-in/serve.ts";
import { serveSshKeys } from "./ssh-key/serve.ts";
import { startDeletions } from "./user/remove.ts";
import { serveUsers } from "./user/serve.ts";

type IdentityRuntime = Pick<Runtime<Settings, Tables>, "settings" | "log" | "registry" | "mesh" | "store"> & {
  /** The clock; the real one unless a test moves it. */
  now?: () => Date;
};

/** Starts identity on a connected mesh and a checked schema. */
export async function startIdentity(runtime: IdentityRuntime): Promise<Running> {
  const { settings, log, mesh, registry, store } = runtime;
  const now = runtime.now ?? (() => new Date());
  const { db } = store;
  const limits = settings.identity;
  const relayConfig = relaySettings(settings.smtp, limits.mail_timeout);
  const relay = relayConfig && createRelay(relayConfig);
  const countRefusal = createRefusals({ db, now, spanMs: limits.refusal_audit_every, log });
  const events = createEvents({ mesh, registry, countRefusal });
  const issuers = limits.oidc_provider.map(({ issuer }) => issuer);
  const deps: Deps = { db, limits, now, events, hasRelay: relay !== undefined, issuers };
  const budget = mailBudget(settings);
  const mailer = createMailer({ db, relay, budget, limits, events, now, log });

  await ensureOwner({ ...deps, origin: adminOrigin(settings), log });
  const mailQueue = startMailQueue({ db, mailer, hasRelay: deps.hasRelay, limits, now, log });
  const retention = startRetention({
    db,
    ages: { expiredKeepMs: limits.expired_keep, auditKeepMs: settings.audit.retention },
    firstMs: limits.retention_first,
    everyMs: limits.retention_every,
    now,
    log,
  });
  const sendCode = createSendCode({ ...deps, mailer });
  const background = createBackground(log);
  const service: ServiceDeps = {
    ...{ ...deps, mesh, settings, mailer, mailQueue, sendCode },
    ...{ background, lastUses: createLastUses(background), registry, log },
  };
  serveAccounts(service);
  serveSignIn(service);
  serveCliLogins(service);
  const oidc = serveOidc(service);
  serveApiTokens(service);
  serveSshKeys(service);
  serveSelfService(service);
  servePasskeys(service);
  serveReauth(service);
  serveLinks(service);
  const transfers = serveServerTransfers(service);
  serveUsers(service);
  serveQuotas(service);
  serveSettings(service);
  serveSessionVerifier(service);
  serveNotices(service);
  mesh.serve(identityHealth.readIdentityHealth, createReadHealth({ ...deps, budget }));
  await consumeAudit({ mesh, db });
  const deletions = startDeletions(service);
  return {
    stop: async () => {
      await background.settle();
      await Promise.all([
        mailQueue.close(),
        retention.close(),
        deletions.close(),
        transfers.close(),
        oidc.close(),
      ]);
    },
  };
}

function serveAccounts(deps: ServiceDeps): void {
  const { mesh } = deps;
  mesh.serve(accounts.redeemSetup, createRedeem(deps));

  mesh.serve(accounts.resolveSession, createResolve(deps));

  mesh.serve(accounts.startEmail, createStartEmail(deps));
  mesh.serve(accounts.enterEmail, createEnterEmail(deps));
  mesh.serve(accounts.verifyEmail, createVerifyEmail(deps));

  mesh.serve(accounts.takeSignInBudget, createTakeSignInBudget(deps));
  mesh.serve(accounts.findLink, createFindLink(deps));
  mesh.serve(accounts.listLinks, createListLinks(deps));
}
