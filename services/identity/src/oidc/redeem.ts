// What both ends of a flow have in common: the login is taken away, then its code is redeemed at the provider.

import type { Context } from "@svc/mesh";
import { Fault, isFault, type oidc } from "@svc/proto";
import { unavailable } from "./begin.ts";
import { type OidcDeps, redirectUriOf } from "./deps.ts";
import { type Claims, isExpected } from "./policy.ts";
import type { Provider } from "./provider.ts";
import { type Login, takeLogin } from "./store.ts";

type Finishing = Context<typeof oidc.finish> | Context<typeof oidc.finishLink>;
type Back = {
  answer: { provider: string; state: string; secret: string; code: string; iss?: string | undefined };
  userId: string | null;
  session: string | null;
  door: "oidc" | "oidc_link";
};
export type Vouched = { provider: Provider; login: Login; subject: string; claims: Claims };

/**
 * Who the provider says came back. A login is spent by the first browser that has its secret, whatever the outcome, and
 * before the provider is asked: a code is never redeemed twice.
 */
export async function redeemAnswer(deps: OidcDeps, context: Finishing, back: Back): Promise<Vouched> {
  const { answer, userId, session, door } = back;
  const host = context.client.host ?? "player";
  const login = await takeLogin(deps.db, answer);
  const provider = deps.providers.find(
    ({ settings: { id, issuer } }) => issuer === login?.issuer && id === answer.provider,
  );
  const redirectUri = redirectUriOf(deps, host, answer.provider);
  if (!isExpected(login, { now: deps.now(), host, userId, session }) || !provider || !redirectUri) {
    deps.events.signInFailed(context, { door, reason: "bad_code" });
    throw new Fault("oidc_login_invalid");
  }
  const challenge = { state: answer.state, nonce: login.nonce, verifier: login.verifier };
  try {
    return { provider, login, ...(await provider.redeem(answer, challenge, redirectUri)) };
  } catch (error) {
    const fault = unavailable(deps, provider, error);
    if (isFault(fault)) throw fault;
    deps.log.warn(
      { provider: provider.settings.id, err: error },
      "an answer of an OpenID provider was rejected",
    );
    deps.events.signInFailed(context, { door, reason: "bad_assertion" });
    throw new Fault("oidc_answer_invalid");
  }
}
