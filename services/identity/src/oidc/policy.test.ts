import assert from "node:assert/strict";
import { test } from "node:test";
import type { Role } from "@svc/proto";
import {
  type Claims,
  decideRole,
  hasAnotherWay,
  isExpected,
  labelOf,
  mayEnter,
  maySignUp,
  userNameFor,
  valuesOf,
  verifiedAddress,
} from "./policy.ts";

const now = new Date("2026-01-01T00:00:00Z");
const login = {
  host: "player" as const,
  expiresAt: new Date(now.getTime() + 1),
  userId: null,
  session: null,
};
const linking = { ...login, userId: "u", session: "s" };
const back = { now, host: "player" as const, userId: null, session: null };
const backAsU = { ...back, userId: "u", session: "s" };
const returns: [what: string, ...Parameters<typeof isExpected>, expected: boolean][] = [
  ["a browser comes back in time", login, back, true],
  ["an unknown login is not expected", undefined, back, false],
  ["an expired login is not expected", { ...login, expiresAt: now }, back, false],
  ["a login of the other host is not expected", { ...login, host: "operator" }, back, false],
  ["a link comes back in its session", linking, backAsU, true],
  ["a link is no sign-in", linking, back, false],
  ["a sign-in is no link", login, backAsU, false],
  ["a link of another account is not expected", { ...linking, userId: "v" }, backAsU, false],
  ["a link of another session is not expected", { ...linking, session: "t" }, backAsU, false],
];
for (const [what, given, returning, expected] of returns) {
  test(what, () => assert.equal(isExpected(given, returning), expected));
}

const rules = { roles: [{ claim: "groups", value: "staff", role: "admin" as const }] };
const staff = { groups: ["players", "staff"] };
type Given = [role: Role, gaveAdmin?: boolean, isGivenElsewhere?: boolean];
const roles: [what: string, given: Given, claims: Claims, role: Role, gaveAdmin: boolean][] = [
  ["claims make a user an admin", ["user"], staff, "admin", true],
  ["without the claim a user stays one", ["user"], { groups: ["players"] }, "user", false],
  ["an admin by claims stays one", ["admin", true], staff, "admin", true],
  ["an admin by claims loses the role with the claim", ["admin", true], {}, "user", false],
  ["another identity still gives the role", ["admin", true, true], {}, "admin", false],
  ["a second identity gives it, too", ["admin", false, true], staff, "admin", true],
  ["an admin by hand stays one without the claim", ["admin"], {}, "admin", false],
  ["an admin by hand is not turned into one by claims", ["admin"], staff, "admin", false],
  ["the owner stays the owner without the claim", ["owner", true], {}, "owner", false],
  ["the owner stays the owner with the claim", ["owner"], staff, "owner", false],
];
for (const [what, [role, gaveAdmin = false, isGivenElsewhere = false], claims, expected, marked] of roles) {
  test(what, () => {
    const plan = decideRole({ role, gaveAdmin, isGivenElsewhere }, claims, rules);
    assert.deepEqual(plan, { role: expected, gaveAdmin: marked });
  });
}
test("a rule that was removed takes its role away", () => {
  const plan = decideRole({ role: "admin", gaveAdmin: true, isGivenElsewhere: false }, staff, { roles: [] });
  assert.equal(plan.role, "user");
});

const claims: [what: string, claims: Claims, name: string, values: string[]][] = [
  ["a text", { a: "x" }, "a", ["x"]],
  ["a list, texts only", { a: ["x", 1, ["y"], { z: "w" }, null] }, "a", ["x"]],
  ["a path", { realm: { roles: ["x"] } }, "realm.roles", ["x"]],
  ["a name with dots before a path", { "https://a.example/b": "x" }, "https://a.example/b", ["x"]],
  ["nothing of a part of a text", { a: "staff and more" }, "b", []],
  ["nothing that every object has", {}, "constructor.name", []],
  ["nothing of a prototype", { a: {} }, "a.__proto__", []],
  ["nothing of a path through a text", { a: "x" }, "a.length", []],
  ["no number and no truth", { a: true, b: 1 }, "a", []],
];
for (const [what, given, name, values] of claims) {
  test(`a claim is read as ${what}`, () => assert.deepEqual(valuesOf(given, name), values));
}
test("a rule wants the whole value, in its own case", () => {
  for (const groups of ["staff,players", "staff players", "STAFF", ["staff "], { staff: true }]) {
    const plan = decideRole({ role: "user", gaveAdmin: false, isGivenElsewhere: false }, { groups }, rules);
    assert.equal(plan.role, "user", JSON.stringify(groups));
  }
});

const factor = { staff_amr: ["hwk", "mfa"], staff_acr: ["gold"] };
const none = { staff_amr: [], staff_acr: [] };
const entries: [
  what: string,
  role: Role,
  claims: Claims,
  rules: typeof factor | typeof none,
  expected: boolean,
][] = [
  ["a user needs no second factor", "user", {}, none, true],
  ["staff never enter where no factor counts", "admin", { amr: ["mfa"], acr: "gold" }, none, false],
  ["staff enter with a factor in amr", "admin", { amr: ["pwd", "mfa"] }, factor, true],
  ["staff enter with acr", "owner", { acr: "gold" }, factor, true],
  ["staff do not enter with a password alone", "owner", { amr: ["pwd"] }, factor, false],
  ["acr does not count as amr", "admin", { acr: "mfa", amr: "gold" }, factor, false],
  ["staff do not enter without either claim", "admin", {}, factor, false],
];
for (const [what, role, given, wanted, expected] of entries) {
  test(what, () => assert.equal(mayEnter(role, given, wanted), expected));
}

const open = { allow_sign_up: true, sign_up_domains: [] as string[] };
const ours = { ...open, sign_up_domains: ["example.org"] };
const signUps: [
  what: string,
  address: string | undefined,
  isTaken: boolean,
  rules: typeof open,
  expected: boolean,
][] = [
  ["anybody signs up where it is open", undefined, false, open, true],
  ["nobody signs up where it is not", "a@example.org", false, { ...open, allow_sign_up: false }, false],
  ["nobody signs up with an address of an account", "a@example.org", true, open, false],
  ["an address of the domain signs up", "a@Example.org", false, ours, true],
  ["another domain does not", "a@example.com", false, ours, false],
  ["a subdomain does not", "a@sub.example.org", false, ours, false],
  ["a domain that ends alike does not", "a@badexample.org", false, ours, false],
  ["an address that hides the domain in its name does not", "a@example.org@example.com", false, ours, false],
  ["no address does not", undefined, false, ours, false],
];
for (const [what, address, isTaken, given, expected] of signUps) {
  test(what, () => assert.equal(maySignUp({ address, isTaken }, given), expected));
}

test("an address counts only when the provider has verified it", () => {
  assert.equal(verifiedAddress({ email: "a@b.example", email_verified: true }), "a@b.example");
  for (const email_verified of [false, "true", 1, undefined])
    assert.equal(verifiedAddress({ email: "a@b.example", email_verified }), undefined);
  assert.equal(verifiedAddress({ email: ["a@b.example"], email_verified: true }), undefined);
});

test("a label is short and has no control characters", () => {
  assert.equal(labelOf({ preferred_username: "", email: "a@b.example", name: "A" }), "a@b.example");
  assert.equal(labelOf({ name: "\u202eA\u0000\n" }), "A");
  assert.equal([...labelOf({ name: "😀".repeat(100) })].length, 64);
  assert.equal(labelOf({ name: 7 }), "");
});

test("a user name is plain letters, or the provider's", () => {
  assert.equal(userNameFor({ preferred_username: "alex@example.org" }, "sso"), "alex");
  assert.equal(userNameFor({ preferred_username: "алекс" }, "sso"), "sso-user");
  assert.equal(userNameFor({ preferred_username: "x".repeat(33) }, "sso"), "sso-user");
  assert.equal(userNameFor({}, "sso"), "sso-user");
});

const alone = {
  role: "user" as Role,
  hasPasskey: false,
  isMailable: false,
  hasPlayer: false,
  otherIdentities: 0,
};
const ways: [what: string, more: Partial<typeof alone>, expected: boolean][] = [
  ["the only way in stays", {}, false],
  ["a passkey is another way", { hasPasskey: true }, true],
  ["an address is another way", { isMailable: true }, true],
  ["a linked player is another way", { hasPlayer: true }, true],
  ["another identity is another way", { otherIdentities: 1 }, true],
  ["a game code lets no staff in", { role: "admin", hasPlayer: true, otherIdentities: 1 }, false],
];
for (const [what, more, expected] of ways) {
  test(what, () => assert.equal(hasAnotherWay({ ...alone, ...more }), expected));
}
