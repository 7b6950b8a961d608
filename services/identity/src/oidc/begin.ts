import type { Context, Handler } from "@svc/mesh";
import { Fault, type oidc } from "@svc/proto";
import { lockLiveAccount } from "../account/store.ts";
import { networkOf } from "../budget/network.ts";
import type { IdentityTrx } from "../database.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { takeTurn } from "../passkey/store.ts";
import { getAccount } from "../principal.ts";
import { mintToken } from "../secret.ts";
import { ProviderDown } from "./bounded-fetch.ts";
import { type OidcDeps, redirectUriOf } from "./deps.ts";
import type { Provider } from "./provider.ts";
import { countLive, insertLogin, listIdentities } from "./store.ts";

/** identity.oidc.begin */
export function createBegin(deps: OidcDeps): Handler<typeof oidc.begin> {
  return (context, { provider }) => begin(deps, context, { id: provider });
}

/** identity.oidc.begin-link: the proof is given here, before the browser goes away, and must still have been fresh then. */
export function createBeginLink(deps: OidcDeps): Handler<typeof oidc.beginLink> {
  return (context, { provider }) => {
    const { user_id: userId, session } = getAccount(context.principal);
    return begin(deps, context, { id: provider, linking: { userId, session } });
  };
}

type Beginning = Context<typeof oidc.begin> | Context<typeof oidc.beginLink>;
type Wanted = { id: string; linking?: { userId: string; session: string } };

/** The provider is asked before the transaction begins: it may take its time. */
async function begin(deps: OidcDeps, { client }: Beginning, { id, linking }: Wanted) {
  const provider = deps.providers.find(({ settings }) => settings.id === id);
  const redirectUri = redirectUriOf(deps, client.host ?? "player", id);
  if (!provider || redirectUri === undefined)
    throw new Fault("not_found", { message: "There is no such sign-in provider." });
  const challenge = { state: mintToken(), nonce: mintToken(), verifier: mintToken() };
  const url = await provider.addressFor(challenge, redirectUri).catch((error: unknown) => {
    throw unavailable(deps, provider, error);
  });
  const now = deps.now();
  const network = networkOf(client.address, 3);
  const secret = mintToken();
  const expiresAt = new Date(now.getTime() + deps.limits.oidc_login_ttl);
  const { issuer } = provider.settings;
  await deps.db.transaction().execute(async (trx) => {
    if (linking) await assertMayLink(deps, trx, linking);
    await takeTurn(trx, `oidc login ${network}`);
    if ((await countLive(trx, { network, now })) >= deps.limits.oidc_logins_per_network)
      throw new Fault("too_many_challenges");
    await insertLogin(trx, { ...challenge, secret, issuer, client, network, linking, now, expiresAt });
  });
  return { url, state: challenge.state, secret, expires_at: expiresAt.toISOString() };
}

async function assertMayLink(
  deps: OidcDeps,
  trx: IdentityTrx,
  { userId, session }: { userId: string; session: string },
): Promise<void> {
  const account = await lockLiveAccount(trx, userId);
  if (!account) throw new Fault("unauthorized");
  await requireReauth(deps, trx, { account, session });
  if ((await listIdentities(trx, userId)).length >= deps.limits.oidc_links_per_account)
    throw new Fault("oidc_too_many");
}

/** Logs why, and tells the caller no more than that the provider is away. Other errors are passed on. */
export function unavailable({ log }: Pick<OidcDeps, "log">, { settings }: Provider, error: unknown): unknown {
  if (!(error instanceof ProviderDown)) return error;
  log.warn({ provider: settings.id, err: error }, "an OpenID provider does not answer");
  return new Fault("oidc_unavailable");
}
