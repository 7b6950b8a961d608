import type { Context, Handler } from "@svc/mesh";
import { type AnyContract, Fault, type passkeys, type signIn } from "@svc/proto";
import { type Account, findByVerifiedEmail, findLiveAccount } from "../account/store.ts";
import { networkOf } from "../budget/network.ts";
import type { ChallengePurpose } from "../database.ts";
import { createSession } from "../session/store.ts";
import { assertionOptions, namedAccount } from "./ceremony.ts";
import { getParty, type PasskeyDeps } from "./deps.ts";
import { countLive, insertChallenge, listCredentials, takeTurn } from "./store.ts";
import { usePasskey } from "./use.ts";

/** identity.passkey.begin-login: an unknown address and one without a passkey are answered alike. */
export function createBeginLogin(deps: PasskeyDeps): Handler<typeof passkeys.beginLogin> {
  return async ({ client, fault }, { email }) => {
    const party = getParty(deps);
    const account = await findByVerifiedEmail(deps.db, email);
    const credentials = await listCredentials(deps.db, account?.id ?? "");
    if (!account || credentials.length === 0) throw fault("no_passkey");
    const options = await assertionOptions(party, credentials, deps.limits.passkey_challenge_ttl);
    const { challenge } = options;
    await keep(deps, { purpose: "login", challenge, userId: account.id, address: client.address });
    return options;
  };
}

/** identity.passkey.begin-discoverable */
export function createBeginDiscoverable(deps: PasskeyDeps): Handler<typeof passkeys.beginDiscoverable> {
  return async ({ client }) => {
    const publicKey = await assertionOptions(getParty(deps), [], deps.limits.passkey_challenge_ttl);
    const { challenge } = publicKey;
    const loginId = await keep(deps, { purpose: "discoverable", challenge, address: client.address });
    return { publicKey, login_id: loginId };
  };
}

type Kept = {
  purpose: Extract<ChallengePurpose, "login" | "discoverable">;
  challenge: string;
  userId?: string;
  address: string;
};

// Counted and added under one lock of the door, so that no number of replicas and parallel calls passes the caps.
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
    getParty(deps);
    const known = await findByVerifiedEmail(deps.db, email);
    const account = await usePasskey(deps, {
      assertion,
      purpose: "login",
      isMine: (spent) => known !== undefined && spent.user_id === known.id,
      owner: async () => known,
    });
    return signInOrRefuse(deps, context, { account, known });
  };
}

/** identity.passkey.finish-discoverable */
export function createFinishDiscoverable(deps: PasskeyDeps): Handler<typeof passkeys.finishDiscoverable> {
  return async (context, { login_id, assertion }) => {
    getParty(deps);
    let known: Account | undefined;
    const account = await usePasskey(deps, {
      assertion,
      purpose: "discoverable",
      isMine: (spent) => spent.id === login_id,
      owner: async (_credential, given) => {
        known = await findLiveAccount(deps.db, namedAccount(given) ?? "");
        return known;
      },
    });
    return signInOrRefuse(deps, context, { account, known });
  };
}

type Door = Context<typeof passkeys.finishLogin> | Context<typeof passkeys.finishDiscoverable>;

async function signInOrRefuse(
  deps: PasskeyDeps,
  context: Door,
  { account, known }: { account: Account | undefined; known: Account | undefined },
): Promise<signIn.LoginResult> {
  if (!account) {
    deps.events.signInFailed(context as Context<AnyContract>, {
      door: "passkey",
      reason: known ? "bad_assertion" : "no_account",
      ...(known && { userId: known.id, username: known.username }),
    });
    throw new Fault("passkey_login_invalid");
  }
  const { id: userId, username, role } = account;
  const minted = { userId, door: "passkey", client: context.client, now: deps.now(), isProof: true } as const;
  const session = await deps.db
    .transaction()
    .execute((trx) => createSession(trx, { ...minted, ttlMs: deps.limits.session_ttl }));
  deps.events.signedIn(context, { door: "passkey", userId, username });
  context.reply.session = { value: session.value, expires_at: session.expiresAt.toISOString() };
  return { user_id: userId, role };
}
