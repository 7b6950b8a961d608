// From the credentials of a request to the principal that travels with it (docs/reference/sign-in.md#session).

import type { CallOptions, Mesh } from "@svc/mesh";
import { type AccountPrincipal, accounts, Fault, type HttpBinding, type Principal } from "@svc/proto";
import { addressKey } from "@svc/proto/address";
import { checkToken, type LiveToken, presentedToken, tokenPrincipal } from "./api-token.ts";
import { faceHostOf } from "./host.ts";
import type { MinuteBudget } from "./minute-budget.ts";
import type { ServiceTokens } from "./service-tokens.ts";
import { presentedSession } from "./session-cookie.ts";
import type { Sessions } from "./sessions.ts";
import { principalOf, refusalOf } from "./tier-policy.ts";

/** What a request says about its caller. */
export type Credentials = {
  host: string;
  cookie: string | undefined;
  authorization: string | undefined;
  /** Whether a person is behind it; a poll is no use of a session (docs/reference/sign-in.md#session). */
  isUse: boolean;
  /** Options of the calls made for this request: request id, client, trace. */
  options: CallOptions;
};

export type Authenticator = {
  /** Takes one attempt from the sign-in budget of the client. Throws `rate_limited` or `auth_unavailable`. */
  takeBudget: (credentials: Credentials) => Promise<void>;
  /** The principal for an operation; a refusal is thrown or rejected as a fault. */
  authenticate: (http: HttpBinding, credentials: Credentials) => Principal | Promise<Principal>;
  /** As `authenticate` for a session, asking identity even when its last answer is cached. */
  reauthenticate: (
    http: HttpBinding,
    principal: AccountPrincipal,
    credentials: Credentials,
  ) => Promise<Principal>;
};

type AuthenticatorDeps = {
  mesh: Pick<Mesh, "call">;
  sessions?: Sessions | undefined;
  tokens?: ServiceTokens | undefined;
  /** Of API tokens; needed with `sessions`. */
  tokenBudget?: MinuteBudget | undefined;
  adminHostname: string;
};

const anonymous: Principal = { kind: "anonymous" };
const none = { kind: "none" } as const;
const twoCredentials =
  "The request is not valid: it has both a session cookie and an API token; send one of them.";

export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { tokens } = deps;
  return {
    takeBudget: (credentials) => takeBudget(deps.mesh, credentials),
    authenticate: (http, credentials) => {
      if (http.tier === "service") return callerAt(http, tokens, credentials);
      const isPublic = http.tier === "public";
      if (isPublic && (deps.sessions === undefined || credentials.cookie === undefined)) return anonymous;
      const presented = presentedSession(credentials.cookie);
      // A public operation asks for no credential, so that a token opens no way to sign in.
      const token = isPublic || !deps.sessions ? none : presentedToken(credentials.authorization);
      if (token.kind !== "none") {
        if (presented.kind !== "none") throw new Fault("bad_request", { message: twoCredentials });
        if (token.kind === "unusable") throw new Fault("token_invalid");
        return authenticateToken(deps, { http, credentials, hash: token.hash });
      }
      if (presented.kind === "hash")
        return authenticateSession(deps, { http, credentials, hash: presented.hash });
      if (isPublic) return anonymous;
      throw presented.kind === "none" ? new Fault("unauthorized") : presented.fault;
    },
    reauthenticate: async (http, principal, credentials) => {
      deps.sessions?.forget(principal.session);
      if (principal.token) return resolveToken(deps, { http, credentials, hash: principal.session });
      return authenticateSession(deps, { http, credentials, hash: principal.session });
    },
  };
}

function callerAt(http: HttpBinding, tokens: ServiceTokens | undefined, credentials: Credentials): Principal {
  const caller = tokens?.callerOf(credentials.authorization);
  if (caller === undefined) {
    throw new Fault("unauthorized", {
      message: "No valid service token was sent (Authorization: Bearer ...).",
    });
  }
  if (!http.callers.includes(caller)) throw new Fault("wrong_caller");
  return { kind: "caller", caller };
}

type SessionRequest = { http: HttpBinding; credentials: Credentials; hash: string };

// A refusal never comes from the cache: an account that has just finished its setup must not wait for the entry to
// expire. Only a cached session that suffices takes the synchronous path.
function authenticateSession(
  deps: AuthenticatorDeps,
  request: SessionRequest,
): Principal | Promise<Principal> {
  const cached = deps.sessions?.recall(request.hash, request.credentials.isUse);
  if (cached) {
    const host = faceHostOf(request.credentials.host, deps.adminHostname);
    if (cached.host === host && refusalOf(request.http, cached, host) === undefined) {
      return principalOf(cached, request.hash, host);
    }
  }
  return resolveSession(deps, request);
}

async function resolveSession(
  deps: AuthenticatorDeps,
  { http, credentials, hash }: SessionRequest,
): Promise<Principal> {
  const answer = await deps.sessions?.ask(hash, credentials.isUse, credentials.options);
  if (answer?.state !== "live") {
    if (http.tier === "public") return anonymousAt(http, hash);
    throw new Fault(answer?.state === "local_auth_off" ? "session_local_auth_off" : "session_invalid");
  }
  const host = faceHostOf(credentials.host, deps.adminHostname);
  const refusal = refusalOf(http, answer, host);
  if (refusal) throw new Fault(refusal);
  // No browser sends a cookie of the other host: somebody copied it.
  if (answer.host !== host) {
    if (http.tier === "public") return anonymousAt(http, hash);
    throw new Fault("session_invalid");
  }
  return principalOf(answer, hash, host);
}

// Only requests with a live token take from its budget: nobody else can use it up.
function authenticateToken(deps: AuthenticatorDeps, request: SessionRequest): Principal | Promise<Principal> {
  const cached = deps.sessions?.tokens.recall(request.hash, true);
  return cached ? admitToken(deps, request, cached) : askForToken(deps, request);
}

async function askForToken(deps: AuthenticatorDeps, request: SessionRequest): Promise<Principal> {
  return admitToken(deps, request, await liveToken(deps, request));
}

function admitToken(deps: AuthenticatorDeps, request: SessionRequest, live: LiveToken): Principal {
  const retryAfterSeconds = deps.tokenBudget?.take(live.grant.id) ?? 0;
  if (retryAfterSeconds > 0) throw new Fault("token_rate_limited", { retryAfterSeconds });
  return principalOfToken(deps, request, live);
}

async function resolveToken(deps: AuthenticatorDeps, request: SessionRequest): Promise<Principal> {
  return principalOfToken(deps, request, await liveToken(deps, request));
}

async function liveToken(
  { sessions }: AuthenticatorDeps,
  { hash, credentials }: SessionRequest,
): Promise<LiveToken> {
  const answer = await sessions?.tokens.ask(hash, true, credentials.options);
  if (answer?.state === "live") return answer;
  if (answer?.state === "expired") throw new Fault("token_expired");
  throw new Fault(answer?.state === "revoked" ? "token_revoked" : "token_invalid");
}

function principalOfToken(
  { adminHostname }: AuthenticatorDeps,
  { http, credentials, hash }: SessionRequest,
  live: LiveToken,
): Principal {
  checkToken(http, live, faceHostOf(credentials.host, adminHostname));
  return tokenPrincipal(live, hash);
}

// A session that is not valid now may become valid again: local sign-in is switched on again, idle staff become players.
// Signing out with its cookie ends it for good.
function anonymousAt(http: HttpBinding, hash: string): Principal {
  return http.session === "ends" ? { kind: "anonymous", session: hash } : anonymous;
}

async function takeBudget(mesh: Pick<Mesh, "call">, credentials: Credentials): Promise<void> {
  const address = addressKey(credentials.options.client?.address ?? "");
  const taken = await mesh
    .call(accounts.takeSignInBudget, { address }, credentials.options)
    .catch((cause) => {
      throw new Fault("auth_unavailable", { cause });
    });
  if (!taken.allowed) throw new Fault("rate_limited", { retryAfterSeconds: taken.retry_after_seconds });
}
