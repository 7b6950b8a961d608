// Linking a player to a signed-in account (docs/reference/links.md#redeem).

import type { Context, Handler } from "@svc/mesh";
import { Fault, type links } from "@svc/proto";
import { type Sentence, say } from "@svc/proto/language";
import { findLiveAccount, lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import { takeCodeAttempt } from "../budget/code.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { lacksProof } from "../fresh-proof/require.ts";
import { lockBindCode, lockPlayer, spendBindCode } from "../link/code-store.ts";
import { decideLink, type LinkVerdict } from "../link/policy.ts";
import { findLink, linkPlayer, listLinkedPlayers } from "../link/store.ts";
import { getAccount } from "../principal.ts";
import type { ServiceDeps } from "../service-deps.ts";

const instructions = {
  en: "Join {host} in Minecraft and type /link. You are shown a code of eight characters: enter it here within {validMinutes} minutes.",
  zh: "在 Minecraft 中加入 {host} 并输入 /link。您会看到一个八位代码：请在 {validMinutes} 分钟内在此输入。",
} as const satisfies Sentence;

/** identity.link.start */
export function createStartLink({
  db,
  limits,
  settings,
}: Pick<ServiceDeps, "db" | "limits" | "settings">): Handler<typeof links.startLink> {
  const about = {
    host: settings.server.root_domain,
    validMinutes: Math.ceil(limits.bind_code_ttl / 60_000),
  };
  return async ({ principal }) => {
    const { user_id: userId } = getAccount(principal);
    const account = await findLiveAccount(db, userId);
    if (!account) throw new Fault("unauthorized");
    const players = await listLinkedPlayers(db, userId);
    return { linked: players.length > 0, instructions: say(instructions, account.language, about) };
  };
}

type VerifyContext = Context<typeof links.verifyLink>;
type Outcome =
  | { kind: "linked"; mcUuid: string; authSource: links.AuthSource }
  | { kind: "invalid_code" | Exclude<LinkVerdict, "link" | "linked"> };

/** identity.link.verify: a rejection does not spend the code. */
export function createVerifyLink(deps: Deps): Handler<typeof links.verifyLink> {
  return async (context, { code }) => {
    await takeCodeAttempt(deps, context, "bind");
    const outcome = await deps.db.transaction().execute((trx) => settle(deps, trx, { context, code }));
    if (outcome.kind !== "linked") throw refusal(deps, context, outcome.kind);
    return { linked: true, mc_uuid: outcome.mcUuid, auth_source: outcome.authSource };
  };
}

async function settle(
  deps: Deps,
  trx: IdentityTrx,
  { context, code: typed }: { context: VerifyContext; code: string },
): Promise<Outcome> {
  const caller = getAccount(context.principal);
  const now = deps.now();
  const code = await lockBindCode(trx, { code: typed, now });
  if (!code) return { kind: "invalid_code" };
  const mcUuid = code.mc_uuid;
  await lockPlayer(trx, mcUuid);
  const account = await lockLiveAccount(trx, caller.user_id);
  if (!account) throw new Fault("unauthorized");
  const link = await findLink(trx, mcUuid);
  const isProofMissing = await lacksProof(deps, trx, { account, session: caller.session });
  const verdict = decideLink({ linkedTo: link?.user_id, userId: account.id, isProofMissing });
  if (verdict === "already_linked" || verdict === "reauth_required") return { kind: verdict };
  const authSource = link?.auth_source ?? code.auth_source;
  await linkPlayer(trx, { userId: account.id, mcUuid, authSource, now });
  await spendBindCode(trx, code.code_hash);
  if (verdict === "link") {
    const payload = { mc_uuid: mcUuid, auth_source: authSource };
    await recordAudit(trx, context, { action: "account.link", payload });
  }
  return { kind: "linked", mcUuid, authSource };
}

function refusal({ events }: Deps, context: VerifyContext, kind: Exclude<Outcome["kind"], "linked">): Fault {
  if (kind === "invalid_code") events.signInFailed(context, { door: "bind", reason: "bad_code" });
  return context.fault(kind);
}
