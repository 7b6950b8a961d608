import assert from "node:assert/strict";
import { test } from "node:test";
import { createAdmission } from "./admission.ts";

const limits = { sessions: 3, sessionsPerAccount: 2, connectionsPerAddress: 2, signInsPerMinute: 4 };

test("an address has so many connections at once; its /64 is one address", () => {
  const admission = createAdmission(limits, () => 0);
  assert.deepEqual(["10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2"].map(admission.enter), [
    true,
    true,
    false,
    true,
  ]);
  admission.leave("10.0.0.1");
  assert.equal(admission.enter("10.0.0.1"), true);
  const six = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"];
  assert.deepEqual(six.map(admission.enter), [true, true, false, true]);
});

test("an address sends so many signatures, and again with time", () => {
  let now = 0;
  const admission = createAdmission(limits, () => now);
  const tries = (address: string) => Array.from({ length: 5 }, () => admission.trySignIn(address));
  assert.deepEqual(tries("10.0.0.1"), [true, true, true, true, false]);
  assert.equal(admission.trySignIn("10.0.0.2"), true);
  now = 15_000;
  assert.deepEqual([admission.trySignIn("10.0.0.1"), admission.trySignIn("10.0.0.1")], [true, false]);
});

test("an account has so many sessions, and the process too", () => {
  const admission = createAdmission(limits, () => 0);
  assert.deepEqual(["a", "a", "a", "b", "c"].map(admission.signIn), [true, true, false, true, false]);
  assert.equal(admission.signedIn(), 3);
  admission.signOut("a");
  assert.deepEqual(["c", "a"].map(admission.signIn), [true, false]);
});
