// API tokens of the external face (docs/reference/api-tokens.md#credential): reading them, and what they open. Pure.

import { hash } from "node:crypto";
import {
  type AccountPrincipal,
  type apiTokens,
  carries,
  type FaceHost,
  Fault,
  type HttpBinding,
  type Principal,
  reaches,
} from "@svc/proto";
import { claimsApiToken, isApiToken } from "@svc/proto/api-token";

export type LiveToken = Extract<apiTokens.TokenAnswer, { state: "live" }>;

type PresentedToken = { kind: "none" } | { kind: "hash"; hash: string } | { kind: "unusable" };

/**
 * The token of an Authorization header. A bearer of another kind is none: what stands before the gateway may add one for
 * itself, and a request without a cookie is refused anyway.
 */
export function presentedToken(header: string | undefined): PresentedToken {
  const [, text = ""] = /^bearer +([!-~].*)$/is.exec(header ?? "") ?? [];
  if (!claimsApiToken(text)) return { kind: "none" };
  return isApiToken(text) ? { kind: "hash", hash: hash("sha256", text) } : { kind: "unusable" };
}

/** Throws unless an operation takes tokens, and this one has its rights. */
export function checkToken(
  http: Pick<HttpBinding, "rights" | "setup">,
  { grant, setup }: Pick<LiveToken, "grant" | "setup">,
  host: FaceHost,
): void {
  if (host === "operator") {
    throw new Fault("token_not_accepted", {
      message: "API tokens are not accepted on the operator console; send it to the panel's host.",
    });
  }
  if (!http.rights) throw new Fault("token_not_accepted");
  if (setup) throw new Fault("setup_required");
  const missing = http.rights.filter((right) => !carries({ token: grant }, right));
  if (missing.length === 0) return;
  throw new Fault("token_scope", {
    message: `This API token does not have the right ${missing.join(" and ")}; make one that has.`,
  });
}

/** Throws when the token of a caller does not reach the server that a request is about. */
export function checkServer(
  { serversBy }: Pick<HttpBinding, "serversBy">,
  principal: Principal,
  input: Readonly<Record<string, unknown>>,
): void {
  if (principal.kind !== "account" || !principal.token || serversBy === "owner") return;
  const { name } = input;
  if (typeof name === "string" && reaches(principal, name)) return;
  throw new Fault("token_scope", {
    message: `This API token is not for the server ${String(name)}; make one that is.`,
  });
}

/** The principal that travels with the request: the account, never its powers as staff. */
export function tokenPrincipal(
  { user_id, username, grant }: LiveToken,
  secretHash: string,
): AccountPrincipal {
  return {
    kind: "account",
    user_id,
    username,
    role: "user",
    staff: false,
    setup: false,
    session: secretHash,
    token: grant,
  };
}
