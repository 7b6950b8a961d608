import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeForwarding, encodeForwarding } from "./forwarding.ts";
import { offlineUuid } from "./profile.ts";

const forwarded = {
  profile: {
    uuid: offlineUuid("Alice"),
    name: "Alice",
    properties: [
      { name: "textures", value: "e30=", signature: "c2ln" },
      { name: "other", value: "x" },
    ],
  },
  address: "203.0.113.9",
};

test("what is signed comes out the same, in both layouts", () => {
  for (const asked of [1, 4])
    assert.deepEqual(decodeForwarding(encodeForwarding(forwarded, "s", asked), "s"), forwarded);
});

test("an answer with any bit changed is refused", () => {
  const answer = encodeForwarding(forwarded, "s");
  for (let index = 0; index < answer.length; index++) {
    const forged = Buffer.from(answer);
    forged.writeUInt8(forged.readUInt8(index) ^ 1, index);
    assert.throws(() => decodeForwarding(forged, "s"), { code: "unauthenticated" }, `byte ${index}`);
  }
});

const refused: [string, Buffer, string][] = [
  ["another secret", encodeForwarding(forwarded, "other"), "s"],
  ["no answer at all", Buffer.alloc(0), "s"],
  ["half a signature", Buffer.alloc(20), "s"],
  [
    "a name that is none",
    encodeForwarding({ ...forwarded, profile: { ...forwarded.profile, name: "a b" } }, "s"),
    "s",
  ],
];
for (const [name, answer, secret] of refused) {
  test(`${name} is unauthenticated`, () => {
    assert.throws(() => decodeForwarding(answer, secret), { code: "unauthenticated" });
  });
}

test("an empty secret neither signs nor verifies", () => {
  assert.throws(() => encodeForwarding(forwarded, ""), { code: "unauthenticated" });
  assert.throws(() => decodeForwarding(Buffer.alloc(64), ""), { code: "unauthenticated" });
});
