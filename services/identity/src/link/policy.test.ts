import assert from "node:assert/strict";
import { test } from "node:test";
import { hashBindCode, mintBindCode } from "./code.ts";
import { type BoundAccount, decideBind, decideLink, sourceOf, userNameOf } from "./policy.ts";

const account = (about: Partial<BoundAccount> = {}): BoundAccount => ({
  role: "user",
  disabled: false,
  deletedAt: null,
  ...about,
});
const gone = new Date(0);

const binds: Record<string, [BoundAccount | undefined, ReturnType<typeof decideBind>]> = {
  "a player without an account gets one": [undefined, "create"],
  "a linked player is signed in": [account(), "sign_in"],
  "an admin cannot sign in with a bind code": [account({ role: "admin" }), "staff_account"],
  "the owner cannot sign in with a bind code": [account({ role: "owner" }), "staff_account"],
  "a disabled account is retired": [account({ disabled: true }), "account_retired"],
  "a deleted account is retired": [account({ deletedAt: gone }), "account_retired"],
  "a disabled admin is rejected as staff": [account({ role: "admin", disabled: true }), "staff_account"],
};
for (const [fact, [given, verdict]] of Object.entries(binds))
  test(fact, () => assert.equal(decideBind(given), verdict));

const linking: Record<string, [string | undefined, boolean, ReturnType<typeof decideLink>]> = {
  "an unlinked player is linked": [undefined, false, "link"],
  "an unlinked player is linked only after a proof": [undefined, true, "reauth_required"],
  "a player who is already linked stays linked without a proof": ["me", true, "linked"],
  "a player linked to another account stays linked to it, with or without a proof": [
    "them",
    false,
    "already_linked",
  ],
};
for (const [fact, [linkedTo, isProofMissing, verdict]] of Object.entries(linking))
  test(fact, () => assert.equal(decideLink({ linkedTo, userId: "me", isProofMissing }), verdict));

test("a version 3 UUID belongs to a third party, any other to the identity source", () => {
  assert.equal(sourceOf("069a79f4-44e9-3726-a5be-fca90e38aaf5"), "thirdparty");
  assert.equal(sourceOf("069a79f4-44e9-4726-a5be-fca90e38aaf5"), "mojang");
  assert.equal(sourceOf("069a79f4-44e9-2726-3333-fca90e38aaf5"), "mojang");
});

test("a bind code has eight characters without lookalikes, and all characters of the alphabet occur", () => {
  const codes = Array.from({ length: 400 }, mintBindCode);
  for (const code of codes) assert.match(code, /^[A-HJ-NP-Z2-9]{8}$/);
  assert.equal(new Set(codes.join("")).size, 32);
  assert.equal(new Set(codes).size, 400);
});

test("case and surrounding spaces of a typed code are ignored, inner characters are not", () => {
  assert.equal(hashBindCode(" abcd2345\t"), hashBindCode("ABCD2345"));
  assert.notEqual(hashBindCode("ABCD 2345"), hashBindCode("ABCD2345"));
});

test("an account created by a bind code is named after the player: by the name in the game, else by the UUID", () => {
  const uuid = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
  for (const [gameName, username] of [
    ["Notch", "Notch-069a"],
    [undefined, "mc-069a79f4"],
    ["_Ada_", "mc-069a79f4"],
    ["a name", "mc-069a79f4"],
    ["", "mc-069a79f4"],
  ] as const)
    assert.equal(userNameOf(uuid, gameName), username, gameName);
});
