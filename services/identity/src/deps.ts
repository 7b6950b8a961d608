import type { Limits } from "./config.ts";
import type { IdentityDb } from "./database.ts";
import type { Events } from "./events.ts";

/** What most handlers need. The clock is passed in so that a test can move it. */
export type Deps = {
  db: IdentityDb;
  limits: Limits;
  now: () => Date;
  events: Events;
  /** Whether a mail relay is configured: only then is a verified e-mail a way in (docs/reference/sign-in.md#proofs). */
  hasRelay: boolean;
  /** Issuers of the OpenID providers: an identity of another one is no way in. */
  issuers: readonly string[];
};
