// A person's own API tokens (docs/reference/api-tokens.md#token).

import type { Handler } from "@svc/mesh";
import { type apiTokens, Fault, isUserName } from "@svc/proto";
import { mintApiToken } from "@svc/proto/api-token";
import { lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { getAccount } from "../principal.ts";
import { mintId, sha256 } from "../secret.ts";
import { countLiveTokens, insertToken, listTokens, revokeTokens } from "./store.ts";

const dayMs = 86_400_000;

/**
 * identity.api-token.create: when the answer is lost after the commit, nobody ever learns the secret; the token is in the
 * list as never used and can be revoked there.
 */
export function createCreateToken(deps: Deps): Handler<typeof apiTokens.create> {
  const { db, limits } = deps;
  return async (context, { name, rights, servers, expires_in_days: days }) => {
    const { user_id: userId, session } = getAccount(context.principal);
    checkWanted({ servers, days, longestMs: limits.api_token_longest });
    const secret = mintApiToken();
    const token = await db.transaction().execute(async (trx) => {
      const account = await lockLiveAccount(trx, userId);
      if (!account) throw new Fault("unauthorized");
      await requireReauth(deps, trx, { account, session });
      const now = deps.now();
      if ((await countLiveTokens(trx, { userId, now })) >= limits.api_tokens_per_account) {
        throw new Fault("token_limit");
      }
      const made = await insertToken(trx, {
        id: mintId(),
        user_id: userId,
        name,
        token_hash: sha256(secret),
        rights,
        servers: servers ?? null,
        created_at: now,
        expires_at: new Date(now.getTime() + days * dayMs),
      });
      const { id, expires_at } = made;
      const payload = { token: id, name, rights, ...(servers && { servers }), expires_at };
      await recordAudit(trx, context, { action: "account.token.create", payload });
      return made;
    });
    return { token, secret };
  };
}

type Wanted = { servers: readonly string[] | undefined; days: number; longestMs: number };

/** Throws `bad_request`. */
function checkWanted({ servers = [], days, longestMs }: Wanted): void {
  const refuse = (why: string) => new Fault("bad_request", { message: `The request is not valid: ${why}.` });
  const odd = servers.find((server) => !isUserName(server));
  if (odd !== undefined) throw refuse(`${odd} is no name of a server`);
  const longest = Math.floor(longestMs / dayMs);
  if (days > longest) throw refuse(`a token may last at most ${longest} days`);
}

/** identity.api-token.list */
export function createListTokens({ db }: Deps): Handler<typeof apiTokens.list> {
  return async ({ principal }) => ({ tokens: await listTokens(db, getAccount(principal).user_id) });
}

/** identity.api-token.read-own: what the gateway was told when it looked the token up. */
export const readOwnToken: Handler<typeof apiTokens.readOwn> = async ({ principal }) => {
  // The one operation here that takes a token, which getAccount refuses.
  if (principal.kind === "account" && principal.token) return principal.token;
  throw new Fault("token_not_found", { message: "The request carries no API token but a session." });
};

/** identity.api-token.revoke: without a proof, so that a lost token can be ended from any session. */
export function createRevokeToken({ db, now }: Deps): Handler<typeof apiTokens.revoke> {
  return async (context, { id }) => {
    const { user_id: userId } = getAccount(context.principal);
    await db.transaction().execute(async (trx) => {
      const [revoked] = await revokeTokens(trx, { userId, now: now(), only: id });
      if (!revoked) throw new Fault("token_not_found");
      const payload = { token: id, name: revoked.name };
      await recordAudit(trx, context, { action: "account.token.revoke", payload });
    });
    return null;
  };
}
