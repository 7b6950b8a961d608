import assert from "node:assert/strict";
import { test } from "node:test";
import { decideToken, isNewUse, type TokenFacts } from "./policy.ts";

const now = new Date("2026-01-01T12:00:00Z");
const ago = (ms: number) => new Date(now.getTime() - ms);
const live: TokenFacts = {
  expiresAt: new Date(now.getTime() + 1),
  revokedAt: null,
  disabled: false,
  deletedAt: null,
};
const verdicts: [what: string, facts: Partial<TokenFacts>, verdict: ReturnType<typeof decideToken>][] = [
  ["a token before its end is live", {}, "live"],
  ["a token at its end is expired", { expiresAt: now }, "expired"],
  ["a revoked token is revoked, also after its end", { revokedAt: ago(1), expiresAt: ago(1) }, "revoked"],
  ["a token of a disabled account is unknown", { disabled: true }, "unknown"],
  ["a revoked token of a deleted account is unknown", { deletedAt: ago(1), revokedAt: ago(1) }, "unknown"],
];
for (const [what, facts, verdict] of verdicts)
  test(what, () => assert.equal(decideToken({ ...live, ...facts }, now), verdict));

const use = { now, address: "192.0.2.1", everyMs: 60_000 };
const uses: [what: string, last: Parameters<typeof isNewUse>[0], isNew: boolean][] = [
  ["the first use is recorded", { at: null, address: null }, true],
  ["a use within a minute of the last is not", { at: ago(59_999), address: "192.0.2.1" }, false],
  ["a use a minute after the last is", { at: ago(60_000), address: "192.0.2.1" }, true],
  ["a use from another address is", { at: ago(1), address: "192.0.2.2" }, true],
];
for (const [what, last, isNew] of uses) test(what, () => assert.equal(isNewUse(last, use), isNew));
