// API tokens of a person (docs/reference/api-tokens.md#token).
// Vocabulary: secret = the text that a caller sends, shown once; grant = what the token may do, and at which servers.

import { z } from "zod";
import { nothing, operation, request } from "../contract.ts";
import { Right, TokenGrant } from "../right.ts";
import { Sha256Hex, Timestamp } from "../text.ts";

/** Of all installations; a setting of identity may be shorter. */
const longestDays = 3_650;
const mostServers = 50;

/** One token as its owner sees it; the secret is not in it. */
export const ApiToken = z.strictObject({
  id: z.string(),
  name: z.string(),
  rights: z.array(Right),
  /** Names of the servers that it reaches; absent: all servers of the account. */
  servers: z.array(z.string()).optional(),
  created_at: Timestamp,
  expires_at: Timestamp,
  /** Absent until it is used; later at most a minute old. */
  last_used_at: Timestamp.optional(),
  last_used_ip: z.string().optional(),
});
export type ApiToken = z.output<typeof ApiToken>;

const TokenName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  .regex(/^[^\u0000-\u001f\u007f]*$/, "must have no control characters");
/** Its shape is checked by identity. */
const ServerName = z.string().min(1).max(64);

const path = "/api/v1/account/tokens";
const external = { face: "external", tier: "app" } as const;

export const create = operation({
  subject: "identity.api-token.create",
  http: { method: "POST", path, ...external, status: 201, holdsSecrets: true },
  body: {
    name: TokenName,
    rights: z
      .array(Right)
      .min(1)
      .max(32)
      .transform((given) => [...new Set(given)]),
    /** Absent: all servers of the account, those of later too. */
    servers: z
      .array(ServerName)
      .min(1)
      .max(mostServers)
      .transform((given) => [...new Set(given)])
      .optional(),
    expires_in_days: z.int().min(1).max(longestDays),
  },
  output: z.strictObject({ token: ApiToken, secret: z.string() }),
  faults: ["reauth_required", "token_limit"],
  onceById: true,
  summary: "Creates an API token; the answer is the only one that ever has its secret.",
  spec: "docs/reference/api-tokens.md#token",
});

export const list = operation({
  subject: "identity.api-token.list",
  http: { method: "GET", path, ...external },
  output: z.strictObject({ tokens: z.array(ApiToken) }),
  summary: "The caller's API tokens that are not revoked, expired ones too, newest first.",
  spec: "docs/reference/api-tokens.md#token",
});

export const revoke = operation({
  subject: "identity.api-token.revoke",
  http: { method: "DELETE", path: `${path}/{id}`, ...external, status: 204 },
  params: { id: z.string().max(64) },
  output: nothing,
  faults: ["token_not_found"],
  onceById: true,
  summary: "Ends an API token for good; its streams and transfers end at once.",
  spec: "docs/reference/api-tokens.md#token",
});

export const readOwn = operation({
  subject: "identity.api-token.read-own",
  http: { method: "GET", path: "/api/v1/me/token", ...external, rights: [], serversBy: "owner" },
  output: TokenGrant,
  faults: ["token_not_found"],
  summary: "Rights and servers of the API token that the request carries; a session has none.",
  spec: "docs/reference/api-tokens.md#own",
});

/** What a gateway learns about a token. `unknown` covers forged ones and those of accounts that are disabled or gone. */
export const TokenAnswer = z.discriminatedUnion("state", [
  z.strictObject({
    state: z.literal("live"),
    user_id: z.string(),
    username: z.string(),
    setup: z.boolean(),
    expires_at: Timestamp,
    grant: TokenGrant,
  }),
  z.strictObject({ state: z.literal("unknown") }),
  z.strictObject({ state: z.literal("expired") }),
  z.strictObject({ state: z.literal("revoked") }),
]);
export type TokenAnswer = z.output<typeof TokenAnswer>;

export const resolve = request({
  subject: "identity.api-token.resolve",
  input: { hash: Sha256Hex },
  output: TokenAnswer,
  callers: ["gateway-external"],
  idempotent: true,
  deadlineMs: 3_000,
  tryMs: 1_000,
  maxInFlight: 1024,
  summary: "Looks up an API token by the hash of its secret and records when and from where it was used.",
  spec: "docs/reference/api-tokens.md#credential",
});
