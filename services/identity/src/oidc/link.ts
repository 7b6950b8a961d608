// The identities of a signed-in account (docs/reference/sign-in.md#oidc-link).

import type { Context, Handler } from "@svc/mesh";
import { Fault, type oidc } from "@svc/proto";
import { violates } from "@svc/store";
import { type Account, hasPasskey, lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { listLinksOf } from "../link/store.ts";
import { getAccount } from "../principal.ts";
import { revokeSessions } from "../session/store.ts";
import type { OidcDeps } from "./deps.ts";
import { hasAnotherWay, labelOf } from "./policy.ts";
import { redeemAnswer, type Vouched } from "./redeem.ts";
import { changeRole } from "./role.ts";
import { deleteIdentity, findIdentity, type Identity, insertIdentity, listIdentities } from "./store.ts";

/** identity.oidc.list-own */
export function createListOwn(deps: OidcDeps): Handler<typeof oidc.listOwn> {
  return async ({ principal }) => {
    const rows = await listIdentities(deps.db, getAccount(principal).user_id);
    return { identities: rows.map((row) => toView(deps, row)) };
  };
}

/** The one mapper from a row to its view. */
function toView({ providers }: Pick<OidcDeps, "providers">, row: Identity): oidc.LinkedIdentity {
  const provider = providers.find(({ settings }) => settings.issuer === row.issuer);
  return {
    id: row.id,
    issuer: row.issuer,
    label: row.label,
    created_at: row.created_at.toISOString(),
    ...(provider && { provider: describe(provider) }),
    ...(row.last_used_at && { last_used_at: row.last_used_at.toISOString() }),
  };
}

/** What people see of a provider. */
export function describe({ settings: { id, name_en, name_zh } }: OidcDeps["providers"][number]) {
  return { id, name: { en: name_en, zh: name_zh || name_en } };
}

/** identity.oidc.finish-link */
export function createFinishLink(deps: OidcDeps): Handler<typeof oidc.finishLink> {
  return async (context, answer) => {
    const { user_id: userId, session } = getAccount(context.principal);
    const vouched = await redeemAnswer(deps, context, { answer, userId, session, door: "oidc_link" });
    const identity = await deps.db
      .transaction()
      .execute((trx) => link(deps, trx, { context, vouched, userId, session }))
      .catch((error: unknown) => {
        throw violates(error, "external_identities_once") ? new Fault("oidc_already_linked") : error;
      });
    deps.mailQueue.wake();
    return toView(deps, identity);
  };
}

type Linking = {
  context: Context<typeof oidc.finishLink>;
  vouched: Vouched;
  userId: string;
  session: string;
};

async function link(deps: OidcDeps, trx: IdentityTrx, { context, vouched, userId, session }: Linking) {
  const { provider, login, subject, claims } = vouched;
  const { issuer } = login;
  const account = await lockLiveAccount(trx, userId);
  if (!account) throw new Fault("unauthorized");
  // The account may have gained a factor while the person was at the provider.
  await requireReauth(deps, trx, { account, session, at: login.createdAt });
  const known = await findIdentity(trx, { issuer, subject });
  if (known?.user_id === userId) return known;
  if (known) throw new Fault("oidc_already_linked");
  if ((await listIdentities(trx, userId)).length >= deps.limits.oidc_links_per_account)
    throw new Fault("oidc_too_many");
  const label = labelOf(claims);
  const identity = await insertIdentity(trx, { userId, issuer, subject, label, now: deps.now() });
  const payload = { identity: identity.id, provider: provider.settings.id, label };
  await recordAudit(trx, context, { action: "account.oidc.linked", payload });
  await tell(deps, trx, { account, kind: "identity_linked", issuer });
  return identity;
}

/** identity.oidc.unlink */
export function createUnlink(deps: OidcDeps): Handler<typeof oidc.unlink> {
  return async (context, { id }) => {
    await deps.db.transaction().execute(async (trx) => {
      const { count, issuer } = await unlink(deps, trx, { context, id });
      await recordAudit(trx, context, { action: "account.oidc.unlinked", payload: { identity: id, issuer } });
      await deps.events.sessionsRevoked(trx, context, { count, action: "account.session.revoke_others" });
    });
    deps.mailQueue.wake();
    return null;
  };
}

type Removal = { context: Context<typeof oidc.unlink>; id: string };

async function unlink(deps: OidcDeps, trx: IdentityTrx, { context, id }: Removal) {
  const { user_id: userId, session } = getAccount(context.principal);
  // The lock makes removals of the last two ways in go one after the other.
  const account = await lockLiveAccount(trx, userId);
  if (!account) throw new Fault("unauthorized");
  await requireReauth(deps, trx, { account, session });
  const identities = await listIdentities(trx, userId);
  const wanted = identities.find((identity) => identity.id === id);
  if (!wanted) throw context.fault("not_found", { message: "This identity is not linked to your account." });
  const others = identities.filter((identity) => identity.id !== id);
  const ways = {
    role: account.role,
    hasPasskey: await hasPasskey(trx, userId),
    isMailable: account.email_verified && deps.hasRelay,
    hasPlayer: (await listLinksOf(trx, userId)).length > 0,
    otherIdentities: others.filter(({ issuer }) => deps.issuers.includes(issuer)).length,
  };
  if (!hasAnotherWay(ways)) throw context.fault("last_way_in");
  await deleteIdentity(trx, id);
  const now = deps.now();
  const count = await revokeSessions(trx, { userId, now, except: session });
  await tell(deps, trx, { account, kind: "identity_unlinked", issuer: wanted.issuer });
  // Nothing else would ever take away what its claims gave.
  const isLost =
    wanted.gave_admin && !others.some(({ gave_admin }) => gave_admin) && account.role === "admin";
  if (isLost) {
    await changeRole(trx, { account, role: "user", now });
    const payload = { user_id: userId, from: "admin", to: "user" };
    await recordAudit(trx, context, { action: "user.role.claims", payload });
  }
  return { count, issuer: wanted.issuer };
}

type Notice = { account: Account; kind: "identity_linked" | "identity_unlinked"; issuer: string };

/** Mails the verified address, as about passkeys. */
async function tell(
  { mailQueue }: OidcDeps,
  trx: IdentityTrx,
  { account, kind, issuer }: Notice,
): Promise<void> {
  if (!account.email_verified || account.email === null) return;
  await mailQueue.add(trx, { kind, facts: { issuer }, to: account.email, language: account.language });
}
