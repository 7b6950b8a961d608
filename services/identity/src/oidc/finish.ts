import type { Context, Handler } from "@svc/mesh";
import type { FaultName, oidc, Role } from "@svc/proto";
import { violates } from "@svc/store";
import { type Account, createBoundAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import { isProvenBySignIn } from "../fresh-proof/policy.ts";
import { waysOf } from "../fresh-proof/require.ts";
import { createSession } from "../session/store.ts";
import type { OidcDeps } from "./deps.ts";
import {
  decideRole,
  labelOf,
  mayEnter,
  maySignUp,
  type RolePlan,
  userNameFor,
  verifiedAddress,
} from "./policy.ts";
import { redeemAnswer, type Vouched } from "./redeem.ts";
import { changeRole } from "./role.ts";
import {
  findIdentity,
  type Identity,
  insertIdentity,
  isAddressTaken,
  listIdentities,
  lockAccount,
  recordUse,
} from "./store.ts";

type FinishContext = Context<typeof oidc.finish>;
type Session = Awaited<ReturnType<typeof createSession>>;
type Refused = {
  refused: Extract<FaultName, "oidc_not_linked" | "account_retired" | "staff_account">;
  account?: Account;
};
type Outcome = { account: Account; session: Session } | Refused;

/** identity.oidc.finish: a rejection changes nothing. */
export function createFinish(deps: OidcDeps): Handler<typeof oidc.finish> {
  return async (context, answer) => {
    const vouched = await redeemAnswer(deps, context, { answer, userId: null, session: null, door: "oidc" });
    const once = () => deps.db.transaction().execute((trx) => settle(deps, trx, { context, vouched }));
    const outcome = await once().catch((error: unknown) => {
      // Somebody else came with this identity in the meantime: the second attempt finds it.
      if (violates(error, "external_identities_once")) return once();
      throw error;
    });
    if ("refused" in outcome) throw refusal(deps, context, outcome);
    const { account, session } = outcome;
    context.reply.session = { value: session.value, expires_at: session.expiresAt.toISOString() };
    return { user_id: account.id, role: account.role };
  };
}

type Given = { context: FinishContext; vouched: Vouched };

async function settle(deps: OidcDeps, trx: IdentityTrx, given: Given): Promise<Outcome> {
  const { login, subject } = given.vouched;
  const found = await findIdentity(trx, { issuer: login.issuer, subject });
  if (!found) return signUp(deps, trx, given);
  const account = await lockAccount(trx, found.user_id);
  // Under the lock of its account an identity stays where it is.
  const identity = await findIdentity(trx, { issuer: login.issuer, subject });
  if (!account || identity?.user_id !== account.id) return { refused: "oidc_not_linked" };
  if (account.disabled || account.deleted_at !== null) return { refused: "account_retired", account };
  const others = (await listIdentities(trx, account.id)).filter(({ id }) => id !== identity.id);
  const facts = {
    role: account.role,
    gaveAdmin: identity.gave_admin,
    isGivenElsewhere: others.some(({ gave_admin }) => gave_admin),
  };
  return enter(deps, trx, { ...given, account, identity, facts });
}

async function signUp(deps: OidcDeps, trx: IdentityTrx, given: Given): Promise<Outcome> {
  const { provider, subject, claims, login } = given.vouched;
  const { settings } = provider;
  const address = verifiedAddress(claims);
  const isTaken = address !== undefined && (await isAddressTaken(trx, address));
  if (!maySignUp({ address, isTaken }, settings)) return { refused: "oidc_not_linked" };
  const facts = { role: "user", gaveAdmin: false, isGivenElsewhere: false } as const;
  // Nothing is made for somebody who would not be let in.
  if (!mayEnter(decideRole(facts, claims, settings).role, claims, settings))
    return { refused: "staff_account" };
  const account = await createBoundAccount(trx, userNameFor(claims, settings.id));
  const about = {
    userId: account.id,
    issuer: login.issuer,
    subject,
    label: labelOf(claims),
    now: deps.now(),
  };
  const identity = await insertIdentity(trx, about);
  const payload = { provider: settings.id };
  const who = { userId: account.id, username: account.username };
  await recordAudit(trx, given.context, { action: "account.create", ...who, payload });
  return enter(deps, trx, { ...given, account, identity, facts });
}

type Entering = Given & {
  account: Account;
  identity: Identity;
  facts: { role: Role; gaveAdmin: boolean; isGivenElsewhere: boolean };
};

async function enter(deps: OidcDeps, trx: IdentityTrx, entering: Entering): Promise<Outcome> {
  const { context, vouched, account: before, identity, facts } = entering;
  const { provider, claims } = vouched;
  const now = deps.now();
  const plan = decideRole(facts, claims, provider.settings);
  if (!mayEnter(plan.role, claims, provider.settings)) return { refused: "staff_account", account: before };
  const account = await changeRole(trx, { account: before, role: plan.role, now });
  await recordUse(trx, { id: identity.id, label: labelOf(claims), gaveAdmin: plan.gaveAdmin, now });
  await recordRole(trx, { context, vouched, before, plan });
  const { id: userId, username } = account;
  const isProof = isProvenBySignIn(await waysOf(deps, trx, account));
  const minted = { userId, door: "oidc", client: context.client, now, isProof } as const;
  const session = await createSession(trx, { ...minted, ttlMs: deps.limits.session_ttl });
  await deps.events.signedIn(trx, context, { door: "oidc", userId, username });
  return { account, session };
}

type Change = Given & { before: Account; plan: RolePlan };

async function recordRole(trx: IdentityTrx, { context, vouched, before, plan }: Change): Promise<void> {
  if (plan.role === before.role) return;
  const payload = {
    user_id: before.id,
    provider: vouched.provider.settings.id,
    from: before.role,
    to: plan.role,
  };
  const who = { userId: before.id, username: before.username };
  await recordAudit(trx, context, { action: "user.role.claims", ...who, payload });
}

function refusal({ events }: OidcDeps, context: FinishContext, { refused, account }: Refused) {
  const subject = account && { userId: account.id, username: account.username };
  const reason = refused === "staff_account" ? "staff_account" : "no_account";
  events.signInFailed(context, { door: "oidc", reason, ...subject });
  if (refused !== "staff_account") return context.fault(refused);
  return context.fault(refused, {
    message:
      "Operators sign in here only with a second factor at the provider; use a passkey or an operator login.",
  });
}
