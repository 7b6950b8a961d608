import type { Logger } from "@svc/telemetry";
import { isInSetup } from "../account/policy.ts";
import type { Account } from "../account/store.ts";
import { hasPasskey } from "../account/store.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { removeLinkFile, setupLink, writeLinkFile } from "./link-file.ts";
import { decideSetup, type SetupStep } from "./policy.ts";
import { countLiveTokens, createOwner, createSetupToken, findOwner, takeSetupTurn } from "./store.ts";

/**
 * Creates the first owner and a setup link while they have no way in. The file is written before the commit:
 * a link that could not be written must not leave a token behind.
 */
export async function ensureOwner(
  deps: Omit<Deps, "events"> & { origin: string; log: Logger },
): Promise<SetupStep> {
  const { db, limits, log } = deps;
  const file = limits.setup_url_file;
  const now = deps.now();
  const step = await db.transaction().execute(async (trx) => {
    await takeSetupTurn(trx);
    const owner = await findOwner(trx);
    const hasDurableSignIn = owner !== undefined && (await isDurable(deps, trx, owner));
    const liveTokens = owner ? await countLiveTokens(trx, { userId: owner.id, now }) : 0;
    const decided = decideSetup({ hasDurableSignIn, liveTokens });
    if (decided !== "mint" || file === "") return decided;
    const { id } = owner ?? (await createOwner(trx, now));
    const token = await createSetupToken(trx, { userId: id, now, ttlMs: limits.setup_token_ttl });
    writeLinkFile(file, setupLink(deps.origin, token));
    return decided;
  });
  if (step === "nothing") removeLinkFile(file);
  if (step === "mint" && file === "")
    log.warn("no owner can sign in; set identity.setup_url_file to a path and restart");
  else if (step === "mint") log.info({ file }, "wrote the setup link of the first owner");
  return step;
}

async function isDurable(
  { hasRelay }: Pick<Deps, "hasRelay">,
  trx: IdentityTrx,
  owner: Account,
): Promise<boolean> {
  const { id, role, email_verified: emailVerified } = owner;
  return !isInSetup({ role, emailVerified, hasPasskey: await hasPasskey(trx, id) }, hasRelay);
}
