import type { Context, Handler, Mesh } from "@svc/mesh";
import { type Fault, isFault, type links, players } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import { createBoundAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { createSession } from "../session/store.ts";
import { findNewPlayer, lockBindCode, lockPlayer, spendBindCode } from "./code-store.ts";
import { type BindVerdict, decideBind, userNameOf } from "./policy.ts";
import { linkPlayer, lockLinkedAccount } from "./store.ts";

type BindDeps = Deps & { mesh: Pick<Mesh, "call">; log: Logger };
type BindContext = Context<typeof links.bind>;
type Account = { id: string; username: string };
type Bound = {
  kind: "bound";
  account: Account;
  mcUuid: string;
  authSource: links.AuthSource;
  session: Awaited<ReturnType<typeof createSession>>;
};
type Refused =
  | { kind: "invalid_code" }
  | { kind: Exclude<BindVerdict, "create" | "sign_in">; account: Account };

/** identity.link.bind: the code is spent in the transaction of the session, so a rejection or a crash does not spend it. */
export function createBind(deps: BindDeps): Handler<typeof links.bind> {
  return async (context, { code }) => {
    const gameName = await findGameName(deps, code);
    const once = () => deps.db.transaction().execute((trx) => settle(deps, trx, { context, code, gameName }));
    const outcome = await once().catch((error: unknown) => {
      // Staff linked the player in the meantime: the second attempt finds that account.
      if (isFault(error) && error.fault === "already_linked") return once();
      throw error;
    });
    if (outcome.kind !== "bound") throw refusal(deps, context, outcome);
    const { account, mcUuid, authSource, session } = outcome;
    context.reply.session = { value: session.value, expires_at: session.expiresAt.toISOString() };
    return { user_id: account.id, linked: true, mc_uuid: mcUuid, auth_source: authSource };
  };
}

const patienceMs = 1_000;

/** What a player without an account is called in the game: lifecycle knows. A code is good without it, too. */
async function findGameName({ db, now, mesh, log }: BindDeps, code: string): Promise<string | undefined> {
  const mcUuid = await findNewPlayer(db, { code, now: now() });
  if (mcUuid === undefined) return undefined;
  const deadlineAt = Date.now() + patienceMs;
  return mesh.call(players.readName, { mc_uuid: mcUuid }, { deadlineAt }).then(
    ({ name }) => name,
    (error: Error) => {
      log.warn({ error: error.message }, "name of a player not found; naming the account by its UUID");
      return undefined;
    },
  );
}

async function settle(
  deps: Deps,
  trx: IdentityTrx,
  given: { context: BindContext; code: string; gameName: string | undefined },
): Promise<Bound | Refused> {
  const now = deps.now();
  const code = await lockBindCode(trx, { code: given.code, now });
  if (!code) return { kind: "invalid_code" };
  const mcUuid = code.mc_uuid;
  await lockPlayer(trx, mcUuid);
  const linked = await lockLinkedAccount(trx, mcUuid);
  const verdict = decideBind(linked);
  if (verdict === "staff_account" || verdict === "account_retired")
    return { kind: verdict, account: linked as Account };
  const account = linked ?? (await createBoundAccount(trx, userNameOf(mcUuid, given.gameName)));
  const authSource = linked?.authSource ?? code.auth_source;
  if (!linked) await linkPlayer(trx, { userId: account.id, mcUuid, authSource, now });
  await spendBindCode(trx, code.code_hash);
  const session = await createSession(trx, {
    userId: account.id,
    door: "bind",
    client: given.context.client,
    now,
    ttlMs: deps.limits.session_ttl,
    isProof: false,
  });
  const subject = { userId: account.id, username: account.username };
  if (verdict === "create") {
    const payload = { mc_uuid: mcUuid };
    await recordAudit(trx, given.context, { action: "account.create", ...subject, payload });
  }
  await deps.events.signedIn(trx, given.context, { door: "bind", ...subject });
  return { kind: "bound", account, mcUuid, authSource, session };
}

function refusal({ events }: Deps, context: BindContext, outcome: Refused): Fault {
  if (outcome.kind === "invalid_code") {
    events.signInFailed(context, { door: "bind", reason: "bad_code" });
    return context.fault("invalid_code");
  }
  const { kind, account } = outcome;
  const reason = kind === "staff_account" ? "staff_account" : "no_account";
  events.signInFailed(context, { door: "bind", reason, userId: account.id, username: account.username });
  return context.fault(kind);
}
