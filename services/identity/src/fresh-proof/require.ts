import { Fault } from "@svc/proto";
import type { Account } from "../account/store.ts";
import { hasIdentityAt, hasPasskey } from "../account/store.ts";
import type { IdentityDb } from "../database.ts";
import type { Deps } from "../deps.ts";
import { findReauthAt } from "../session/store.ts";
import { needsProof, type Ways } from "./policy.ts";

/** The ways into an account as they are now. */
export async function waysOf(
  { hasRelay, issuers }: Pick<Deps, "hasRelay" | "issuers">,
  db: IdentityDb,
  account: Pick<Account, "id" | "role" | "email_verified">,
): Promise<Ways> {
  const { id, role, email_verified: emailVerified } = account;
  const hasIdentity = await hasIdentityAt(db, { userId: id, issuers });
  return { role, emailVerified, hasPasskey: await hasPasskey(db, id), hasRelay, hasIdentity };
}

type Asking = {
  account: Pick<Account, "id" | "role" | "email_verified">;
  session: string;
  /** When the proof must have been fresh; default now. */
  at?: Date;
};
type Needs = Pick<Deps, "hasRelay" | "issuers" | "limits" | "now">;

/** Whether the session still has to prove itself before it changes a way in. */
export async function lacksProof(deps: Needs, db: IdentityDb, about: Asking): Promise<boolean> {
  const ways = await waysOf(deps, db, about.account);
  const reauthAt = await findReauthAt(db, about.session);
  return needsProof(ways, reauthAt, { now: about.at ?? deps.now(), reauthTtlMs: deps.limits.reauth_ttl });
}

/**
 * Throws `reauth_required` unless the session proved itself within the last five minutes, or the account has nothing
 * to prove itself with. Call it where the change is made, in its transaction, with the account locked.
 */
export async function requireReauth(deps: Needs, db: IdentityDb, about: Asking): Promise<void> {
  if (await lacksProof(deps, db, about)) throw new Fault("reauth_required");
}
