import type { Handler } from "@svc/mesh";
import { Fault, type passkeys } from "@svc/proto";
import { violates } from "@svc/store";
import { type Account, findLiveAccount, lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { getAccount } from "../principal.ts";
import { recordProof } from "../session/store.ts";
import { clearLinkFile, completeSetup, type SetupEnd } from "../setup/complete.ts";
import { registrationOptions, verifyAttestation } from "./ceremony.ts";
import { getParty, type PasskeyDeps } from "./deps.ts";
import { parseAttestation, signedChallenge } from "./response.ts";
import {
  type Credential,
  insertChallenge,
  insertCredential,
  keepNewestChallenges,
  listCredentials,
  type NewCredential,
  spendChallenge,
} from "./store.ts";

/** identity.passkey.begin-register */
export function createBeginRegister(deps: PasskeyDeps): Handler<typeof passkeys.beginRegister> {
  const { db, limits, now } = deps;
  return async (context) => {
    const party = getParty(deps);
    const { user_id: userId, session } = getAccount(context.principal);
    const account = await findLiveAccount(db, userId);
    if (!account) throw new Fault("unauthorized");
    await requireReauth(deps, db, { account, session });
    const bound = await listCredentials(db, userId);
    if (bound.length >= limits.passkeys_per_account) throw tooMany(deps);
    const ttlMs = limits.passkey_challenge_ttl;
    const userName = account.email ?? account.username;
    const options = await registrationOptions(party, { userId, userName, bound, timeoutMs: ttlMs });
    const { challenge } = options;
    await insertChallenge(db, { purpose: "register", challenge, userId, session, now: now(), ttlMs });
    await keepNewestChallenges(db, {
      ...{ userId, purpose: "register", limit: limits.passkey_challenges_per_account },
    });
    return options;
  };
}

/** identity.passkey.finish-register */
export function createFinishRegister(deps: PasskeyDeps): Handler<typeof passkeys.finishRegister> {
  const { db, events, mailQueue } = deps;
  return async (context, { attestation, name = "" }) => {
    const { user_id: userId, session, role } = getAccount(context.principal);
    const verified = await verify(deps, { attestation, userId, session });
    if (!verified) throw context.fault("passkey_register_failed");
    const credential = { ...verified.bound, user_id: userId, name };
    const { made, setup } = await db
      .transaction()
      .execute(async (trx) => {
        const bound = await bind(deps, trx, { credential, session, begunAt: verified.begunAt });
        const { revoked: count } = bound.setup;
        const payload = { passkey: bound.made.id };
        await recordAudit(trx, context, { action: "account.passkey.bound", payload });
        await events.sessionsRevoked(trx, context, { count, action: "account.session.revoke_others" });
        return bound;
      })
      .catch((error: unknown) => {
        if (violates(error, "webauthn_credentials_once")) throw context.fault("passkey_taken");
        throw error;
      });
    mailQueue.wake();
    clearLinkFile(deps, role, setup);
    return toView(made);
  };
}

type Given = { attestation: unknown; userId: string; session: string };
type Bound = Omit<NewCredential, "user_id" | "name">;

type Verified = { bound: Bound; begunAt: Date };

async function verify(deps: PasskeyDeps, { attestation, ...mine }: Given): Promise<Verified | undefined> {
  const party = getParty(deps);
  const given = parseAttestation(attestation);
  const challenge = given && signedChallenge(given.response);
  if (!given || challenge === undefined) return undefined;
  const now = deps.now();
  const spent = await spendChallenge(deps.db, { challenge, purpose: "register", now });
  if (spent?.user_id !== mine.userId || spent.session !== mine.session) return undefined;
  const info = await verifyAttestation(party, { attestation: given, challenge });
  return info && { bound: toBound(info, given.response.transports, now), begunAt: spent.created_at };
}

type Info = NonNullable<Awaited<ReturnType<typeof verifyAttestation>>>;

function toBound(info: Info, transports: string[], now: Date): Bound {
  return {
    credential_id: info.credential.id,
    public_key: Buffer.from(info.credential.publicKey).toString("base64"),
    sign_count: info.credential.counter,
    aaguid: info.aaguid,
    user_verified: true,
    backup_eligible: info.credentialDeviceType === "multiDevice",
    backup_state: info.credentialBackedUp,
    transports,
    created_at: now,
  };
}

type Binding = { credential: NewCredential; session: string; begunAt: Date };

/** A proof counts if it was fresh when the ceremony began, but the account may have gained a factor since. */
async function bind(
  deps: PasskeyDeps,
  trx: IdentityTrx,
  { credential, session, begunAt }: Binding,
): Promise<{ made: Credential; setup: SetupEnd }> {
  const account = await lockLiveAccount(trx, credential.user_id);
  if (!account) throw new Fault("unauthorized");
  await requireReauth(deps, trx, { account, session, at: begunAt });
  const bound = await listCredentials(trx, account.id);
  if (bound.length >= deps.limits.passkeys_per_account) throw tooMany(deps);
  const made = await insertCredential(trx, credential);
  const now = deps.now();
  if (!(await recordProof(trx, { tokenHash: session, now }))) throw new Fault("unauthorized");
  await tell(deps, trx, { account, kind: "passkey_added", name: credential.name });
  return { made, setup: await completeSetup(trx, { userId: account.id, session, now }) };
}

function tooMany({ limits }: PasskeyDeps): Fault {
  const message = `An account has at most ${limits.passkeys_per_account} passkeys; remove one first.`;
  return new Fault("passkey_register_failed", { message });
}

/** Mails the verified address that a passkey was added or removed. */
export async function tell(
  { mailQueue }: Pick<PasskeyDeps, "mailQueue">,
  trx: IdentityTrx,
  about: { account: Account; kind: "passkey_added" | "passkey_removed"; name: string },
): Promise<void> {
  const { account, kind, name } = about;
  if (!account.email_verified || account.email === null) return;
  await mailQueue.add(trx, { kind, facts: { name }, to: account.email, language: account.language });
}

const unknownAuthenticator = "00000000-0000-0000-0000-000000000000";

/** The one mapper from a row to its view. */
export function toView(row: Credential): passkeys.PasskeyCredential {
  return {
    id: row.id,
    name: row.name,
    created_at: row.created_at.toISOString(),
    ...(row.aaguid !== "" && row.aaguid !== unknownAuthenticator && { aaguid: row.aaguid }),
    ...(row.last_used_at && { last_used_at: row.last_used_at.toISOString() }),
  };
}
