import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { revokeSessions } from "../session/store.ts";
import { removeLinkFile } from "./link-file.ts";
import { spendSetupTokens } from "./store.ts";

/** What completing a setup removed. */
export type SetupEnd = { spent: boolean; revoked: number };

/**
 * Spends the setup links of an account that has just gained a way in, and ends the sessions that others opened with
 * them. Call it in the transaction of the proof, with the account locked; nothing happens where there is no link.
 */
export async function completeSetup(
  trx: IdentityTrx,
  about: { userId: string; session: string; now: Date },
): Promise<SetupEnd> {
  const { userId, session, now } = about;
  if (!(await spendSetupTokens(trx, { userId, now }))) return { spent: false, revoked: 0 };
  const revoked = await revokeSessions(trx, { userId, now, except: session, door: "setup" });
  return { spent: true, revoked };
}

/** After the commit: deletes the file once the owner's link is spent; links of other accounts do not matter. */
export function clearLinkFile({ limits }: Pick<Deps, "limits">, role: string, { spent }: SetupEnd): void {
  if (spent && role === "owner") removeLinkFile(limits.setup_url_file);
}
