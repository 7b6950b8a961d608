// Signing the command line in through the browser (docs/reference/sign-in.md#cli-login).
// Vocabulary: CLI login = a command line that waits for somebody to approve it; secret = known to that command line alone;
// code = eight characters that the command line shows and the approver types.

import { z } from "zod";
import { operation } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { TypedBindCode } from "./link.ts";
import { LoginResult } from "./sign-in.ts";

const external = { face: "external" } as const;

export const start = operation({
  subject: "identity.cli-login.start",
  http: {
    ...external,
    method: "POST",
    path: "/api/v1/auth/cli-login/start",
    tier: "public",
    rateLimited: true,
    status: 201,
  },
  output: z.strictObject({ secret: z.string(), code: z.string(), expires_at: Timestamp }),
  faults: ["too_many_challenges"],
  onceById: true,
  summary:
    "Opens a CLI login on this host: a secret for the command line, and a code for the person who approves.",
  spec: "docs/reference/sign-in.md#cli-login",
});

/** Who asks, as far as the service saw it, for the person who is to approve. */
export const CliLogin = z.strictObject({
  client_ip: z.string(),
  user_agent: z.string(),
  /** Whether it came from the network of the reader. */
  same_network: z.boolean(),
  created_at: Timestamp,
  expires_at: Timestamp,
});
export type CliLogin = z.output<typeof CliLogin>;

const account = { ...external, path: "/api/v1/account/cli-login/{code}", tier: "app" } as const;

export const read = operation({
  subject: "identity.cli-login.read",
  http: { ...account, method: "GET" },
  params: { code: TypedBindCode },
  output: CliLogin,
  faults: ["cli_login_not_found", "reauth_required", "rate_limited"],
  summary: "Which command line shows this code, and from where it asks.",
  spec: "docs/reference/sign-in.md#cli-login",
});

export const decide = operation({
  subject: "identity.cli-login.decide",
  http: { ...account, method: "POST" },
  params: { code: TypedBindCode },
  body: { decision: z.enum(["approve", "refuse"]) },
  output: z.strictObject({ decision: z.enum(["approve", "refuse"]) }),
  faults: ["cli_login_not_found", "reauth_required", "rate_limited"],
  onceById: true,
  summary: "Lets the command line that shows this code sign in as the caller, or refuses it.",
  spec: "docs/reference/sign-in.md#cli-login",
});

export const finish = operation({
  subject: "identity.cli-login.finish",
  // Not charged to the sign-in budget: it is polled, and the secret cannot be guessed.
  http: {
    ...external,
    method: "POST",
    path: "/api/v1/auth/cli-login/finish",
    tier: "public",
    session: "mints",
  },
  body: { secret: z.string().min(1).max(128) },
  output: z.union([
    z.strictObject({ state: z.literal("pending") }),
    LoginResult.extend({ state: z.literal("signed_in") }),
  ]),
  faults: ["cli_login_invalid", "cli_login_refused"],
  onceById: true,
  summary: "A session of the person who approved; `pending` until somebody did. Safe to poll.",
  spec: "docs/reference/sign-in.md#cli-login",
});
