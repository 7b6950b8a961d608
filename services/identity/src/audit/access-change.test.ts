import assert from "node:assert/strict";
import { test } from "node:test";
import { accessChangeOf, accountOfAccess } from "./access-change.ts";

const rights = ["see", "power"];
const none = { given: [], taken: [], limits: [] };

for (const [name, entry, expected] of [
  [
    "an invitation gives",
    { action: "server.access.invite", payload: { rights } },
    { ...none, given: rights },
  ],
  [
    "an acceptance gives",
    { action: "server.access.accept", payload: { rights } },
    { ...none, given: rights },
  ],
  ["an end takes", { action: "server.access.expire", payload: { rights } }, { ...none, taken: rights }],
  ["a withdrawal takes", { action: "server.access.revoke", payload: { rights } }, { ...none, taken: rights }],
  [
    "a change gives and takes",
    { action: "server.access.change", payload: { before: { rights }, rights: ["see", "command"] } },
    { ...none, given: ["command"], taken: ["power"] },
  ],
  ["an older end says nothing", { action: "server.access.leave", payload: {} }, undefined],
  [
    "a change without what was says nothing",
    { action: "server.access.change", payload: { rights } },
    undefined,
  ],
  [
    "what cannot be read says nothing",
    { action: "server.access.invite", payload: { rights: "see" } },
    undefined,
  ],
  ["another action says nothing", { action: "account.token.create", payload: { rights } }, undefined],
] as const)
  test(name, () => assert.deepEqual(accessChangeOf(entry), expected));

test("the account is that of an entry of shared access alone", () => {
  const payload = { user_id: "usr-1" };
  assert.equal(accountOfAccess({ action: "server.access.remove", payload }), "usr-1");
  assert.equal(accountOfAccess({ action: "server.transfer", payload }), undefined);
  assert.equal(accountOfAccess({ action: "server.access.leave", payload: null }), undefined);
});
