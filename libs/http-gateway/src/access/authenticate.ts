// Who asks: from the credential of a request to the principal that travels with it (architecture.md 4).

import type { CallOptions, Mesh } from "@svc/mesh";
import { type AccountPrincipal, accounts, Fault, type HttpBinding, type Principal } from "@svc/proto";
import { budgetKey } from "./client-address.ts";
import { faceHostOf } from "./host.ts";
import type { ServiceTokens } from "./service-tokens.ts";
import { presentedSession } from "./session-cookie.ts";
import type { Sessions } from "./sessions.ts";
import { principalOf, refusalOf } from "./tier-policy.ts";

/** What the gate looks at. */
export type Visitor = {
  host: string;
  cookie: string | undefined;
  authorization: string | undefined;
  /** Options of the calls made on the way: request id, client, trace. */
  options: CallOptions;
};

export type Gate = {
  /** Takes one attempt from the sign-in budget of the client. Throws `rate_limited` or `auth_unavailable`. */
  takeBudget: (visitor: Visitor) => Promise<void>;
  /** The principal of a visitor at an operation; a refusal is thrown or rejected as a fault. */
  admit: (http: HttpBinding, visitor: Visitor) => Principal | Promise<Principal>;
  /** As `admit` for a session, asking identity even when its last answer is remembered. */
  readmit: (http: HttpBinding, principal: AccountPrincipal, visitor: Visitor) => Promise<Principal>;
};

export type GateNeeds = {
  mesh: Pick<Mesh, "call">;
  sessions?: Sessions | undefined;
  tokens?: ServiceTokens | undefined;
  adminHostname: string;
};

const anonymous: Principal = { kind: "anonymous" };

export function createGate(needs: GateNeeds): Gate {
  const { tokens } = needs;
  return {
    takeBudget: (visitor) => takeBudget(needs.mesh, visitor),
    admit: (http, visitor) => {
      if (http.tier === "service") return callerAt(http, tokens, visitor);
      const isPublic = http.tier === "public";
      if (isPublic && (needs.sessions === undefined || visitor.cookie === undefined)) return anonymous;
      const presented = presentedSession(visitor.cookie);
      if (presented.kind === "hash") return admitSession(needs, { http, visitor, hash: presented.hash });
      if (isPublic) return anonymous;
      throw presented.kind === "none" ? new Fault("unauthorized") : presented.fault;
    },
    readmit: async (http, principal, visitor) => {
      needs.sessions?.forget(principal.session);
      return admitSession(needs, { http, visitor, hash: principal.session });
    },
  };
}

function callerAt(http: HttpBinding, tokens: ServiceTokens | undefined, visitor: Visitor): Principal {
  const caller = tokens?.callerOf(visitor.authorization);
  if (caller === undefined) {
    throw new Fault("unauthorized", {
      message: "No valid service token was sent (Authorization: Bearer ...).",
    });
  }
  if (!http.callers.includes(caller)) throw new Fault("wrong_caller");
  return { kind: "caller", caller };
}

type SessionVisit = { http: HttpBinding; visitor: Visitor; hash: string };

// A refusal is never given from memory: an account that has just finished its setup must not wait for the memory to
// end. Only the sync path of a remembered, sufficient session costs nothing.
function admitSession(needs: GateNeeds, visit: SessionVisit): Principal | Promise<Principal> {
  const remembered = needs.sessions?.recall(visit.hash);
  if (remembered) {
    const host = faceHostOf(visit.visitor.host, needs.adminHostname);
    if (remembered.host === host && refusalOf(visit.http, remembered, host) === undefined) {
      return principalOf(remembered, visit.hash, host);
    }
  }
  return admitAsked(needs, visit);
}

async function admitAsked(needs: GateNeeds, { http, visitor, hash }: SessionVisit): Promise<Principal> {
  const answer = await needs.sessions?.ask(hash, visitor.options);
  if (answer?.state !== "live") {
    if (http.tier === "public") return strangerAt(http, hash);
    throw new Fault(answer?.state === "local_auth_off" ? "session_local_auth_off" : "session_invalid");
  }
  const host = faceHostOf(visitor.host, needs.adminHostname);
  const refusal = refusalOf(http, answer, host);
  if (refusal) throw new Fault(refusal);
  // A cookie of the other host was carried here by somebody: no browser sends it.
  if (answer.host !== host) {
    if (http.tier === "public") return strangerAt(http, hash);
    throw new Fault("session_invalid");
  }
  return principalOf(answer, hash, host);
}

// A session that does not count may come back: the password door opens again, idle staff become players. Whoever signs
// out with its cookie ends it for good.
function strangerAt(http: HttpBinding, hash: string): Principal {
  return http.session === "ends" ? { kind: "anonymous", session: hash } : anonymous;
}

async function takeBudget(mesh: Pick<Mesh, "call">, visitor: Visitor): Promise<void> {
  const address = budgetKey(visitor.options.client?.address ?? "");
  const taken = await mesh.call(accounts.takeSignInBudget, { address }, visitor.options).catch((cause) => {
    throw new Fault("auth_unavailable", { cause });
  });
  if (!taken.allowed) throw new Fault("rate_limited", { retryAfterSeconds: taken.retry_after_seconds });
}
