// Sign-in with an OpenID provider, and the identities of providers that are linked to an account (docs/reference/sign-in.md#oidc).
// Vocabulary: provider = one of the OpenID providers of the settings; external identity = issuer and subject that a provider
// vouches for; OIDC login = a browser that was sent to a provider and is expected back; secret = known to that browser alone.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { LoginResult } from "./sign-in.ts";

const spec = "docs/reference/sign-in.md#oidc";
const linking = "docs/reference/sign-in.md#oidc-link";
const external = { face: "external" } as const;
const door = { ...external, method: "POST", tier: "public", rateLimited: true } as const;
const own = { ...external, tier: "app" } as const;

/** As the settings name it. */
const ProviderId = z.string().regex(/^[a-z0-9-]{1,32}$/, "must be 1 to 32 of a-z, 0-9 and -");
const Names = z.strictObject({ en: z.string(), zh: z.string() });

export const listProviders = operation({
  subject: "identity.oidc.list-providers",
  http: {
    ...external,
    method: "GET",
    path: "/api/v1/auth/oidc/providers",
    tier: "public",
    addressBudget: true,
  },
  output: z.strictObject({ providers: z.array(z.strictObject({ id: z.string(), name: Names })) }),
  summary: "The OpenID providers with which people sign in here, in the order of the settings.",
  spec,
});

/** Where the browser goes, and what it must still know when it comes back. */
const Begun = z.strictObject({
  /** Address at the provider. */
  url: z.string(),
  /** The provider returns it; it names the login. */
  state: z.string(),
  /** Stays in the browser; the provider never sees it. */
  secret: z.string(),
  expires_at: Timestamp,
});

const beginning = {
  body: { provider: ProviderId },
  output: Begun,
  // One that was made twice is left to expire.
  idempotent: true,
  // The provider may have to be asked for its addresses.
  deadlineMs: 20_000,
  maxInFlight: 64,
} as const;

/** What the provider put into the address with which the browser came back, and the secret of the browser. */
const answer = {
  /** Of the address that it came to: each provider has one of its own. */
  provider: ProviderId,
  state: z.string().min(1).max(128),
  secret: z.string().min(1).max(128),
  code: z.string().min(1).max(4096),
  /** Issuer, from providers that name themselves (RFC 9207). */
  iss: z.string().min(1).max(512).optional(),
} as const;
const ending = { body: answer, deadlineMs: 30_000, maxInFlight: 64 } as const;

export const begin = operation({
  ...beginning,
  subject: "identity.oidc.begin",
  http: { ...door, path: "/api/v1/auth/oidc/begin", status: 201 },
  faults: ["not_found", "too_many_challenges", "oidc_unavailable"],
  summary: "Starts a sign-in with a provider on this host.",
  spec,
});

export const finish = operation({
  ...ending,
  subject: "identity.oidc.finish",
  http: { ...door, path: "/api/v1/auth/oidc/finish", session: "mints" },
  output: LoginResult,
  faults: [
    "oidc_login_invalid",
    "oidc_answer_invalid",
    "oidc_unavailable",
    "oidc_not_linked",
    "staff_account",
    "account_retired",
  ],
  summary: "Signs in the account that the provider's answer belongs to; each login can be finished once.",
  spec,
});

/** An external identity of the caller. */
export const LinkedIdentity = z.strictObject({
  id: z.string(),
  /** Absent once the provider is no longer in the settings; then it is no way in. */
  provider: z.strictObject({ id: z.string(), name: Names }).optional(),
  issuer: z.string(),
  /** What the provider calls the person, for recognition only; may be empty. */
  label: z.string(),
  created_at: Timestamp,
  last_used_at: Timestamp.optional(),
});
export type LinkedIdentity = z.output<typeof LinkedIdentity>;

export const listOwn = operation({
  subject: "identity.oidc.list-own",
  http: { ...own, method: "GET", path: "/api/v1/account/oidc" },
  output: z.strictObject({ identities: z.array(LinkedIdentity) }),
  summary: "The caller's identities at OpenID providers.",
  spec: linking,
});

export const beginLink = operation({
  ...beginning,
  subject: "identity.oidc.begin-link",
  http: { ...own, method: "POST", path: "/api/v1/account/oidc/begin", status: 201 },
  faults: ["not_found", "reauth_required", "too_many_challenges", "oidc_unavailable", "oidc_too_many"],
  summary: "Starts to link an identity at a provider to the caller's account.",
  spec: linking,
});

export const finishLink = operation({
  ...ending,
  subject: "identity.oidc.finish-link",
  http: { ...own, method: "POST", path: "/api/v1/account/oidc/finish" },
  output: LinkedIdentity,
  faults: [
    "oidc_login_invalid",
    "oidc_answer_invalid",
    "oidc_unavailable",
    "oidc_already_linked",
    "oidc_too_many",
    "reauth_required",
  ],
  summary: "Links the identity of the provider's answer, in the session that began it.",
  spec: linking,
});

export const unlink = operation({
  subject: "identity.oidc.unlink",
  http: { ...own, method: "DELETE", path: "/api/v1/account/oidc/{id}", status: 204 },
  params: { id: z.string().min(1).max(64) },
  output: nothing,
  faults: ["not_found", "reauth_required", "last_way_in"],
  onceById: true,
  summary:
    "Removes an identity from the caller's account and ends its other sessions; never the last way in.",
  spec: linking,
});
