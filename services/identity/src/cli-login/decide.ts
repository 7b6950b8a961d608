// The side of the person: what asks, and the approval or refusal.

import type { Context, Handler } from "@svc/mesh";
import { type cliLogins, Fault } from "@svc/proto";
import { findLiveAccount, lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import { takeCodeAttempt } from "../budget/code.ts";
import type { Deps } from "../deps.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { getAccount } from "../principal.ts";
import { isSameNetwork, isWaiting } from "./policy.ts";
import { type CliLoginRow, findByCode, lockByCode, saveDecision } from "./store.ts";

/** identity.cli-login.read: the proof comes before the code, so that an unattended browser learns nothing. */
export function createRead(deps: Deps): Handler<typeof cliLogins.read> {
  return async (context, { code }) => {
    const { user_id: userId, session } = getAccount(context.principal);
    const account = await findLiveAccount(deps.db, userId);
    if (!account) throw new Fault("unauthorized");
    await requireReauth(deps, deps.db, { account, session });
    await takeCodeAttempt(deps, context, "cli_login");
    const login = await findByCode(deps.db, code);
    if (!isWaiting(login, { now: deps.now(), host: hostOf(context) })) throw unknownCode(deps, context);
    return toView(login as CliLoginRow, context.client.address);
  };
}

/** identity.cli-login.decide */
export function createDecide(deps: Deps): Handler<typeof cliLogins.decide> {
  return async (context, { code, decision }) => {
    await takeCodeAttempt(deps, context, "cli_login");
    const { user_id: userId, session } = getAccount(context.principal);
    const isDecided = await deps.db.transaction().execute(async (trx) => {
      const login = await lockByCode(trx, code);
      const account = await lockLiveAccount(trx, userId);
      if (!account) throw new Fault("unauthorized");
      await requireReauth(deps, trx, { account, session });
      if (!login || !isWaiting(login, { now: deps.now(), host: hostOf(context) })) return false;
      const { secretHash } = login;
      await saveDecision(trx, { secretHash, decision, userId, role: account.role, session });
      await recordAudit(trx, context, { action: `auth.cli_login.${decision}`, payload: payloadOf(login) });
      return true;
    });
    if (!isDecided) throw unknownCode(deps, context);
    return { decision };
  };
}

type Deciding = Context<typeof cliLogins.read> | Context<typeof cliLogins.decide>;

function hostOf({ client }: Deciding) {
  return client.host ?? "player";
}

function unknownCode({ events }: Deps, context: Deciding): Fault {
  events.signInFailed(context, { door: "cli_login", reason: "bad_code" });
  return new Fault("cli_login_not_found");
}

function toView(login: CliLoginRow, readerAddress: string): cliLogins.CliLogin {
  return {
    client_ip: login.clientIp,
    user_agent: login.userAgent,
    same_network: isSameNetwork(login.clientIp, readerAddress),
    created_at: login.createdAt.toISOString(),
    expires_at: login.expiresAt.toISOString(),
  };
}

/** Names the login and where it came from; the address and program of the approver stand in the entry itself. */
export function payloadOf({ secretHash, clientIp, userAgent }: CliLoginRow) {
  return { cli_login: secretHash.slice(0, 12), cli_address: clientIp, cli_user_agent: userAgent };
}
