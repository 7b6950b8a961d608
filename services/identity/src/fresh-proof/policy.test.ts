import assert from "node:assert/strict";
import { test } from "node:test";
import { type Factor, factorsOf, needsProof, type Ways } from "./policy.ts";

const nothing: Ways = {
  role: "user",
  emailVerified: false,
  hasPasskey: false,
  hasRelay: true,
  hasIdentity: false,
};
const rules: [what: string, ways: Partial<Ways>, factors: Factor[]][] = [
  ["an account without a durable way in has no factor", {}, []],
  ["a player with a verified address has the mailed code", { emailVerified: true }, ["email"]],
  ["an address counts only while mail can be sent", { emailVerified: true, hasRelay: false }, []],
  [
    "a passkey takes precedence over the address",
    { emailVerified: true, hasPasskey: true },
    ["passkey", "email"],
  ],
  ["an identity at a provider alone is proved by signing in again", { hasIdentity: true }, ["sign_in"]],
  ["an address is a better proof than an identity", { hasIdentity: true, emailVerified: true }, ["email"]],
  ["an identity is no way in for an operator in setup", { hasIdentity: true, role: "admin" }, []],
  ["an operator without a passkey signs in again", { role: "admin", emailVerified: true }, ["sign_in"]],
  ["an operator never uses a mailed code", { role: "owner", hasPasskey: true }, ["passkey", "sign_in"]],
  ["an operator in setup has no factor yet", { role: "owner" }, []],
];
for (const [what, ways, factors] of rules) {
  test(what, () => assert.deepEqual(factorsOf({ ...nothing, ...ways }), factors));
}

const now = new Date("2026-01-01T00:10:00Z");
const at = { now, reauthTtlMs: 300_000 };
const proofs: [what: string, ways: Partial<Ways>, reauthAt: Date | null, needed: boolean][] = [
  ["no proof is required of an account without a factor", {}, null, false],
  ["a proof is required of a session that never had one", { emailVerified: true }, null, true],
  ["a proof is valid for five minutes", { emailVerified: true }, new Date(now.getTime() - 299_999), false],
  ["a proof is not valid any longer", { emailVerified: true }, new Date(now.getTime() - 300_000), true],
];
for (const [what, ways, reauthAt, needed] of proofs) {
  test(what, () => assert.equal(needsProof({ ...nothing, ...ways }, reauthAt, at), needed));
}
