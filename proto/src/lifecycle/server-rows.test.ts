// Who is told of an entry is decided once; that no shortcut to it leaves anybody out is tested on every mixture.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Principal } from "../envelope.ts";
import { myRows, type ServerOwnership } from "./server-rows.ts";

const past = "2020-01-01T00:00:00.000Z";
const account = (user_id: string, more: object = {}): Principal => ({
  ...{ kind: "account", user_id, username: user_id, role: "user", staff: false, setup: false, session: "" },
  ...more,
});
const token = { id: "tok", rights: ["see"], servers: ["alpha"] };
const callers: Principal[] = [
  { kind: "anonymous" },
  ...["usr-owner", "usr-member", "usr-other"].flatMap((id) => [
    account(id),
    account(id, { role: "owner", staff: true }),
    account(id, { token }),
    account(id, { token: { ...token, servers: ["beta"] } }),
  ]),
];
const memberLists: ServerOwnership["members"][] = [
  undefined,
  [],
  [{ user_id: "usr-member", rights: ["see"] }],
  [
    { user_id: "usr-member", rights: ["see", "files.read"], ends_at: past },
    { user_id: "usr-other", rights: ["see"] },
  ],
];

test("whoever sees a server in their own list is among those it is shown to", () => {
  let seen = 0;
  for (const ownerId of [undefined, "usr-owner"])
    for (const members of memberLists)
      for (const claimable of [false, true])
        for (const caller of callers) {
          const about = { name: "alpha", subdomain: "alpha", claimable };
          const entry = {
            ...about,
            ...(ownerId && { ownerId }),
            ...(members && { members }),
          } as ServerOwnership;
          const facts = myRows.factsOf(entry, undefined);
          if (myRows.readerOf(facts, caller) === undefined) continue;
          seen += 1;
          const audience = myRows.shownTo?.(facts) ?? "everybody";
          const id = caller.kind === "account" ? caller.user_id : "";
          assert.ok(audience === "everybody" || audience.includes(id), `${id} of ${JSON.stringify(entry)}`);
        }
  assert.ok(seen > 40);
});
