// Both logins by passkey (docs/reference/sign-in.md#passkeys): by address, and discoverable, where the passkey names its account.

import type { Context, Handler } from "@svc/mesh";
import { Fault, type passkeys, type signIn } from "@svc/proto";
import { type Account, findByVerifiedEmail, findLiveAccount } from "../account/store.ts";
import { networkOf } from "../budget/network.ts";
import type { ChallengePurpose, IdentityTrx } from "../database.ts";
import { createSession } from "../session/store.ts";
import { usePasskey } from "./authenticate.ts";
import { assertionOptions } from "./ceremony.ts";
import { getParty, type PasskeyDeps } from "./deps.ts";
import type { RelyingParty } from "./relying-party.ts";
import { namedAccount, parseAssertion } from "./response.ts";
import { countLive, insertChallenge, listCredentials, takeTurn } from "./store.ts";

/**
 * identity.passkey.begin-login: an unknown address and one without a passkey get the same answer. It reveals only the
 * ids that a browser needs, in an order that reveals nothing, and not the kind of the devices.
 */
export function createBeginLogin(deps: PasskeyDeps): Handler<typeof passkeys.beginLogin> {
  return async ({ client, fault }, { email }) => {
    const party = getParty(deps);
    const account = await findByVerifiedEmail(deps.db, email);
    const credentials = await listCredentials(deps.db, account?.id ?? "");
    if (!account || credentials.length === 0) throw fault("no_passkey");
    const ids = credentials.map(({ credential_id: id }) => id).sort();
    const options = await optionsFor(party, ids, deps);
    const { challenge } = options;
    await keep(deps, { purpose: "login", challenge, userId: account.id, address: client.address });
    return options;
  };
}

/** identity.passkey.begin-discoverable */
export function createBeginDiscoverable(deps: PasskeyDeps): Handler<typeof passkeys.beginDiscoverable> {
  return async ({ client }) => {
    const publicKey = await optionsFor(getParty(deps), [], deps);
    const { challenge } = publicKey;
    const loginId = await keep(deps, { purpose: "discoverable", challenge, address: client.address });
    return { publicKey, login_id: loginId };
  };
}

async function optionsFor(party: RelyingParty, ids: readonly string[], { limits }: PasskeyDeps) {
  const allowed = ids.map((id) => ({ id }));
  return assertionOptions(party, allowed, limits.passkey_challenge_ttl).catch(() => {
    throw new Fault("passkey_login_failed");
  });
}

type Kept = {
  purpose: Extract<ChallengePurpose, "login" | "discoverable">;
  challenge: string;
  userId?: string;
  address: string;
};

// Counted and added under one lock of the endpoint, so that parallel calls and replicas cannot exceed the limits.
async function keep(deps: PasskeyDeps, { address, ...about }: Kept): Promise<string> {
  const { limits } = deps;
  const now = deps.now();
  const { purpose } = about;
  const source = networkOf(address, 3);
  return deps.db.transaction().execute(async (trx) => {
    await takeTurn(trx, purpose === "discoverable" ? purpose : `${purpose} ${source}`);
    const isFull =
      (await countLive(trx, { purpose, source, now })) >= limits.passkey_challenges_per_network ||
      (purpose === "discoverable" && (await countLive(trx, { purpose, now })) >= limits.passkey_challenges);
    if (isFull) throw new Fault("too_many_challenges");
    return insertChallenge(trx, { ...about, source, now, ttlMs: limits.passkey_challenge_ttl });
  });
}

/** identity.passkey.finish-login */
export function createFinishLogin(deps: PasskeyDeps): Handler<typeof passkeys.finishLogin> {
  return async (context, { email, assertion }) => {
    const known = await findByVerifiedEmail(deps.db, email);
    const signedIn = await usePasskey(deps, {
      assertion,
      purpose: "login",
      isMine: (spent) => known !== undefined && spent.user_id === known.id,
      userId: known?.id,
      effect: (trx, account) => mint(deps, trx, { account, context }),
    });
    return answerLogin(deps, context, { signedIn, known });
  };
}

/** identity.passkey.finish-discoverable */
export function createFinishDiscoverable(deps: PasskeyDeps): Handler<typeof passkeys.finishDiscoverable> {
  return async (context, { login_id, assertion }) => {
    const signedIn = await usePasskey(deps, {
      assertion,
      purpose: "discoverable",
      isMine: (spent) => spent.id === login_id,
      effect: (trx, account) => mint(deps, trx, { account, context }),
    });
    const named = signedIn ? undefined : namedIn(assertion);
    const known = named === undefined ? undefined : await findLiveAccount(deps.db, named);
    return answerLogin(deps, context, { signedIn, known });
  };
}

function namedIn(value: unknown): string | undefined {
  const assertion = parseAssertion(value);
  return assertion && namedAccount(assertion);
}

type SignedIn = { account: Account; session: Awaited<ReturnType<typeof createSession>> };

async function mint(
  { limits, now, events }: PasskeyDeps,
  trx: IdentityTrx,
  { account, context }: { account: Account; context: Door },
): Promise<SignedIn> {
  const { id: userId, username } = account;
  const { client } = context;
  const minted = { userId, door: "passkey", client, now: now(), isProof: true } as const;
  const session = await createSession(trx, { ...minted, ttlMs: limits.session_ttl });
  await events.signedIn(trx, context, { door: "passkey", userId, username });
  return { account, session };
}

type Door = Context<typeof passkeys.finishLogin> | Context<typeof passkeys.finishDiscoverable>;
type Ended = { signedIn: SignedIn | undefined; known: Account | undefined };

function answerLogin({ events }: PasskeyDeps, context: Door, { signedIn, known }: Ended): signIn.LoginResult {
  if (!signedIn) {
    const reason = known ? "bad_assertion" : "no_account";
    const subject = known && { userId: known.id, username: known.username };
    events.signInFailed(context, { door: "passkey", reason, ...subject });
    throw new Fault("passkey_login_invalid");
  }
  const { account, session } = signedIn;
  const { id: userId, role } = account;
  context.reply.session = { value: session.value, expires_at: session.expiresAt.toISOString() };
  return { user_id: userId, role };
}
