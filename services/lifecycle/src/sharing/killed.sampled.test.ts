// kill -9 before every statement of an acceptance, before its commit and before its answer: the person is in, with all that goes with it, or the invitation
// is as it was, and whoever was invited can do it again.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { sampleOf } from "@svc/config/testing";
import { createTestDatabase, type TestDatabase } from "@svc/store/testing";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { createServerStore } from "../server/store.ts";
import { runKilled } from "../testing/killed-steps.ts";
import { hashOfSecret, mintSecret } from "./invitation.ts";
import { createSharingStore } from "./store.ts";

const program = testProgram(fileURLToPath(new URL("../testing/killed-acceptance.ts", import.meta.url)));

let database: TestDatabase;
let store: LifecycleStore;
before(async () => {
  const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));
  database = await createTestDatabase({ schema: "lifecycle", migrations });
  store = database.open<Tables>({ poolSize: 2 });
});
after(async () => {
  await store?.close();
  await database?.drop();
});

const acceptIn = (secret: string, account: string, at?: readonly [string, string]) =>
  runKilled<{ as?: string }>(program, [database.url, secret, account], at);

/** A server of `usr-owner` with an open invitation; returns its secret. */
async function invited(name: string): Promise<string> {
  await createServerStore(store).adopt({ name, subdomain: name, offered: true });
  await database.admin("update lifecycle.servers set owner_id = 'usr-owner' where name = $1", [name]);
  const secret = mintSecret();
  await createSharingStore(store).withServer(name, (locked) =>
    locked.addInvitation({
      ...{ id: `inv-${name}`, server_name: name, owner_id: "usr-owner", kind: "link" as const },
      ...{ secret_hash: hashOfSecret(secret) ?? "", email: null, mc_uuid: null, player_name: null },
      ...{ offered: { rights: ["see" as const] }, invited_by: "usr-owner", inviter_name: "owner" },
      expires_at: new Date(Date.now() + 3_600_000),
    }),
  );
  return secret;
}

/** What an acceptance has left: all of it, or nothing. */
async function leftOf(name: string): Promise<{ isIn: boolean }> {
  const [row] = await database.admin(
    `select jsonb_array_length(members) as members, outcome, member_id = members->0->>'id' as is_theirs,
        (select count(*)::int from lifecycle.outbox where body::jsonb->>'server_name' = name
          and body::jsonb->>'action' = 'server.access.accept') as audits,
        (select count(*)::int from lifecycle.outbox where subject = 'svc.evt.lifecycle.member.changed.' || name) as events
      from lifecycle.servers join lifecycle.access_invitations on server_name = name where name = $1`,
    [name],
  );
  const isIn = row?.["members"] === 1;
  const whole = { members: 1, outcome: "accepted", is_theirs: true, audits: 1, events: 1 };
  const nothing = { members: 0, outcome: null, is_theirs: null, audits: 0, events: 0 };
  assert.deepEqual({ ...row }, isIn ? whole : nothing);
  return { isIn };
}

test("killed at any statement, an acceptance is whole or has not happened, and can be repeated by one account alone", async () => {
  const { told } = await acceptIn(await invited("unharmed"), "usr-a");
  const steps = told?.steps ?? 0;
  assert.equal(told?.answer.as, "member");
  assert.ok(steps >= 7, `${steps} steps`);
  assert.deepEqual(await leftOf("unharmed"), { isIn: true });
  const points = Array.from({ length: steps }, (_, n) => [String(n + 1), "before"]);
  points.push([String(steps), "after"], ["0", "answered"]);
  for (const [n = "", when = ""] of sampleOf(points, 6)) {
    const name = `killed-${when}-${n}`;
    const secret = await invited(name);
    const killed = await acceptIn(secret, "usr-a", [n, when]);
    assert.deepEqual(killed, { signal: "SIGKILL", told: undefined });
    assert.deepEqual(await leftOf(name), { isIn: when === "answered" }, name);
    const again = await acceptIn(secret, "usr-a");
    assert.equal(again.told?.answer.as, "member", name);
    assert.deepEqual(await leftOf(name), { isIn: true }, name);
    assert.equal((await acceptIn(secret, "usr-b")).told?.answer.fault, "invitation_over");
    assert.equal((await acceptIn(secret, "usr-a")).told?.answer.as, "member");
    assert.deepEqual(await leftOf(name), { isIn: true }, name);
  }
});
