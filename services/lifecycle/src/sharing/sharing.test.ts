// Invitations and members against a real database, NATS and cluster.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Mesh } from "@svc/mesh";
import { account, faultOf, staff, tokenOf, until } from "@svc/mesh/testing";
import { members as contracts, type InputOf, type MemberRight, memberRights, rights } from "@svc/proto";
import {
  createOwnershipOperations,
  type OwnershipFixture,
  openOwnershipFixture,
} from "../testing/ownership-operations.ts";

let fixture: OwnershipFixture;
let storage: Mesh;
before(async () => {
  fixture = await openOwnershipFixture([
    "lifecycle.access_sweep=100ms",
    "lifecycle.members_per_server=4",
    "lifecycle.invitations_per_server=4",
    "lifecycle.invitation_attempts=200",
  ]);
  storage = await fixture.nats.connect("storage");
});
after(async () => {
  await storage?.drain(500);
  await fixture?.close();
});
const { create, sql, link, auditsOf, untilAudited } = createOwnershipOperations(() => fixture);

const owner = account("usr-owner");
type Invite = Omit<InputOf<typeof contracts.invite>, "name" | "expires_in_days"> & {
  expires_in_days?: number;
};
const invite = (name: string, asked: Partial<Invite>, who = owner) =>
  fixture.external.call(contracts.invite, { name, rights: ["see"], expires_in_days: 7, ...asked }, who);
const accept = (which: { id?: string; secret?: string }, who: string) =>
  fixture.external.call(contracts.accept, which, account(who));
const listOf = (name: string, who = owner) => fixture.external.call(contracts.list, { name }, who);

/** A server of `usr-owner`. */
async function newServer(name: string): Promise<string> {
  await create(name, { owner: "usr-owner" });
  return name;
}

/** A member by a link. */
async function join(name: string, who: string, asked: Partial<Invite> = {}): Promise<string> {
  const { secret = "" } = await invite(name, asked);
  await accept({ secret }, who);
  const { members } = await listOf(name);
  const id = members.find(({ username }) => username === who)?.id;
  assert.ok(id);
  return id;
}

describe("an invitation by link", () => {
  before(() => newServer("linked"));

  test("lets in who has the secret, once, and a repeat answers the same", async () => {
    const { invitation, secret = "" } = await invite("linked", { rights: ["power"] });
    assert.match(secret, /^svc_inv_[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(invitation.rights, ["see", "power"]);
    assert.ok(!JSON.stringify(await sql("select * from lifecycle.access_invitations")).includes(secret));
    const offer = await fixture.external.call(contracts.look, { secret }, account("usr-a"));
    assert.deepEqual(
      [offer.server, offer.invited_by, offer.rights],
      ["linked", "usr-owner", ["see", "power"]],
    );
    const access = { server: "linked", as: "member", rights: ["see", "power"] };
    assert.deepEqual(await accept({ secret }, "usr-a"), access);
    assert.deepEqual(await accept({ secret }, "usr-a"), access);
    assert.equal(await faultOf(accept({ secret }, "usr-b")), "invitation_over");
    const { members, invitations } = await listOf("linked");
    assert.deepEqual([members.length, invitations], [1, []]);
    for (const action of ["invite", "accept"]) await untilAudited(`server.access.${action}`, "linked");
    assert.equal((await auditsOf("server.access.accept", "linked")).length, 1);
    assert.ok(!JSON.stringify(await fixture.audits()).includes(secret));
  });

  test("is unknown with any other text, to whoever asks by id, and nothing of it is in a refusal", async () => {
    const { invitation, secret = "" } = await invite("linked", {});
    for (const which of [
      { secret: `${secret}x` },
      { secret: secret.slice(0, -1) },
      { secret: `svc_inv_${"A".repeat(43)}` },
      { secret: "%' or 1=1 --" },
      { id: invitation.id },
      { id: "inv-none" },
    ])
      for (const call of [contracts.accept, contracts.look, contracts.decline])
        assert.equal(
          await faultOf(fixture.external.call(call, which, account("usr-b"))),
          "invitation_not_found",
        );
    assert.equal(await faultOf(accept({}, "usr-b")), "bad_request");
    assert.equal(await faultOf(accept({ secret, id: "x" }, "usr-b")), "bad_request");
  });

  test("of many acceptances at once one wins, by different accounts and by the same one", async () => {
    await newServer("raced");
    const { secret = "" } = await invite("raced", {});
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, n) => faultOf(accept({ secret }, `usr-${n % 4}`))),
    );
    const { members } = await listOf("raced");
    assert.equal(members.length, 1);
    const winner = members[0]?.username;
    for (const [n, outcome] of outcomes.entries())
      assert.equal(outcome, `usr-${n % 4}` === winner ? "none" : "invitation_over");
  });

  test("whatever dies before its end has let nobody in, and it can be accepted again", async () => {
    await newServer("dying");
    const { secret = "" } = await invite("dying", {});
    // Each step of the transaction fails once.
    const steps = ["servers", "access_invitations", "outbox"];
    for (const table of steps) {
      await sql(
        `create function lifecycle.die() returns trigger language plpgsql as $$ begin raise 'dead'; end $$`,
      );
      await sql(
        `create trigger die before insert or update on lifecycle.${table} for each row execute function lifecycle.die()`,
      );
      const outcome = await faultOf(accept({ secret }, "usr-a"));
      await sql(`drop trigger die on lifecycle.${table}`);
      await sql("drop function lifecycle.die()");
      assert.notEqual(outcome, "none", table);
      const { members, invitations } = await listOf("dying");
      assert.deepEqual([members.length, invitations.length], [0, 1], table);
    }
    assert.equal((await accept({ secret }, "usr-a")).as, "member");
  });

  test("can be declined, after which nobody can accept it", async () => {
    const { secret = "" } = await invite("linked", {});
    const decline = () => fixture.external.call(contracts.decline, { secret }, account("usr-b"));
    assert.equal(await decline(), null);
    assert.equal(await decline(), null);
    assert.equal(await faultOf(accept({ secret }, "usr-b")), "invitation_over");
    assert.equal(await faultOf(accept({ secret }, "usr-c")), "invitation_over");
  });

  test("is closed when it was taken back, has expired, or its access would have ended already", async () => {
    const { invitation, secret = "" } = await invite("linked", {});
    const revoke = () =>
      fixture.external.call(contracts.revoke, { name: "linked", id: invitation.id }, owner);
    assert.equal(await revoke(), null);
    assert.equal(await faultOf(revoke()), "invitation_not_found");
    assert.equal(await faultOf(accept({ secret }, "usr-b")), "invitation_over");
    const late = await invite("linked", {});
    await sql("update lifecycle.access_invitations set expires_at = now() where id = $1", [
      late.invitation.id,
    ]);
    assert.equal(await faultOf(accept({ secret: late.secret ?? "" }, "usr-b")), "invitation_over");
    const short = await invite("linked", { ends_at: new Date(Date.now() + 300).toISOString() });
    await until(
      async () => (await faultOf(accept({ secret: short.secret ?? "" }, "usr-z"))) === "invitation_over",
    );
    const past = new Date(Date.now() - 1).toISOString();
    assert.equal(await faultOf(invite("linked", { ends_at: past })), "bad_request");
  });

  test("of another server cannot be taken back, and no account that cannot be used gets in", async () => {
    await newServer("other-one");
    const { invitation, secret = "" } = await invite("linked", {});
    const revoke = { name: "other-one", id: invitation.id };
    assert.equal(
      await faultOf(fixture.external.call(contracts.revoke, revoke, owner)),
      "invitation_not_found",
    );
    fixture.people.disabled.add("usr-off");
    assert.equal(await faultOf(accept({ secret }, "usr-off")), "invitation_not_found");
    fixture.people.disabled.add("usr-owner");
    assert.equal(await faultOf(accept({ secret }, "usr-b")), "invitation_over");
    fixture.people.disabled.delete("usr-owner");
    fixture.people.isAway = true;
    assert.equal(await faultOf(accept({ secret }, "usr-b")), "unavailable");
    fixture.people.isAway = false;
  });

  test("members and open invitations of a server are limited, and so are attempts", async () => {
    await newServer("full");
    for (const who of ["usr-1", "usr-2", "usr-9"]) await join("full", who);
    const [a, b] = [await invite("full", {}), await invite("full", {})];
    await accept({ secret: a.secret ?? "" }, "usr-3");
    assert.equal(await faultOf(accept({ secret: b.secret ?? "" }, "usr-4")), "member_limit");
    assert.equal(await faultOf(invite("full", {})), "member_limit");
    await newServer("busy");
    for (let n = 0; n < 4; n++) await invite("busy", {});
    assert.equal(await faultOf(invite("busy", {})), "invitation_limit");
  });

  test("attempts of an account are limited over both replicas, and those of others are not", async () => {
    const begun = Date.now();
    const tries = Array.from({ length: 260 }, () => accept({ secret: "x" }, "usr-guesser"));
    const faults = await Promise.all(tries.map(faultOf));
    const refilled = Math.ceil(((Date.now() - begun) / 60_000) * 200);
    const unlimited = faults.filter((fault) => fault === "invitation_not_found").length;
    assert.ok(unlimited >= 200 && unlimited <= 200 + refilled, `${unlimited} of 260, ${refilled} came back`);
    assert.equal(
      faults.length - unlimited,
      faults.filter((fault) => fault === "invitation_rate_limited").length,
    );
    assert.equal(await faultOf(accept({ secret: "x" }, "usr-other")), "invitation_not_found");
    await sql("update lifecycle.invitation_attempts set refilled_at = now() - interval '2 hours'");
    await until(async () => (await sql("select from lifecycle.invitation_attempts")).length === 0);
  });
});

describe("an invitation that is addressed", () => {
  before(() => newServer("addressed"));
  const offersOf = async (who: string) =>
    (await fixture.external.call(contracts.listOffers, {}, account(who))).invitations.map(
      ({ server }) => server,
    );

  test("to a mail address is for the account that has verified it, and the answer never says whether there is one", async () => {
    fixture.people.addresses.set("usr-mail", "Ada@Example.org");
    const known = await invite("addressed", { email: "ADA@example.ORG" });
    const unknown = await invite("addressed", { email: "nobody@example.org" });
    assert.deepEqual(
      [known.mailed, known.secret, unknown.mailed, unknown.secret],
      [true, undefined, true, undefined],
    );
    assert.deepEqual(Object.keys(known.invitation).sort(), Object.keys(unknown.invitation).sort());
    assert.deepEqual(
      fixture.people.invited.slice(0, 2).map(({ email, server }) => [email, server]),
      [
        ["ADA@example.ORG", "addressed"],
        ["nobody@example.org", "addressed"],
      ],
    );
    const { id } = known.invitation;
    assert.deepEqual([await offersOf("usr-mail"), await offersOf("usr-b")], [["addressed"], []]);
    // The Kelvin sign is a K in lower case.
    const kelvin = await invite("addressed", { email: "kate@example.org" });
    fixture.people.addresses.set("usr-kelvin", "\u212aate@example.org");
    assert.deepEqual(await offersOf("usr-kelvin"), []);
    assert.equal(await faultOf(accept({ id: kelvin.invitation.id }, "usr-kelvin")), "invitation_not_found");
    assert.equal(await faultOf(accept({ id }, "usr-b")), "invitation_not_found");
    assert.equal((await accept({ id }, "usr-mail")).server, "addressed");
    assert.deepEqual(await offersOf("usr-mail"), []);
  });

  test("is not mailed while identity is away, and stands all the same", async () => {
    const open = fixture.people.invited.length;
    fixture.people.isAway = true;
    const made = await invite("addressed", { email: "later@example.org" }).finally(() => {
      fixture.people.isAway = false;
    });
    assert.deepEqual([made.mailed, fixture.people.invited.length], [false, open]);
    fixture.people.addresses.set("usr-later", "later@example.org");
    assert.deepEqual(await offersOf("usr-later"), ["addressed"]);
  });

  test("to a player is for the account that is linked to who joined under that name, whoever is called so later", async () => {
    const [steve, other] = [link("usr-steve"), link("usr-imposter")];
    const seen = (uuid: string, name: string) =>
      sql("insert into lifecycle.player_names (mc_uuid, name, seen_at) values ($1, $2, now())", [uuid, name]);
    assert.equal(await faultOf(invite("addressed", { player: "Steve" })), "player_unknown");
    await seen(steve, "Steve");
    const { invitation } = await invite("addressed", { player: "sTEVE" });
    assert.equal(invitation.to, "Steve");
    await seen(other, "STEVE");
    assert.deepEqual([await offersOf("usr-imposter"), await offersOf("usr-steve")], [[], ["addressed"]]);
    assert.equal(await faultOf(accept({ id: invitation.id }, "usr-imposter")), "invitation_not_found");
    assert.equal((await accept({ id: invitation.id }, "usr-steve")).as, "member");
    assert.equal(await faultOf(invite("addressed", { player: "Steve" })), "player_unknown");
    const both = { player: "Steve", email: "a@example.org" };
    assert.equal(await faultOf(invite("addressed", both)), "bad_request");
  });
});

describe("a member with invite", () => {
  const own = {
    rights: ["invite", "power", "files.read"] as MemberRight[],
    limits: { read_paths: ["plugins"] },
  };
  let inviterId = "";
  let strongerId = "";
  let weakerId = "";
  before(async () => {
    await newServer("nested");
    inviterId = await join("nested", "usr-inviter", own);
    strongerId = await join("nested", "usr-stronger", { rights: [...memberRights] });
    weakerId = await join("nested", "usr-weaker", { rights: ["power"] });
  });
  const inviter = account("usr-inviter");
  const change = (id: string, asked: Partial<Invite>, who = inviter) =>
    fixture.external.call(contracts.change, { name: "nested", id, rights: ["see"], ...asked }, who);
  const remove = (id: string, who = inviter) =>
    fixture.external.call(contracts.remove, { name: "nested", id }, who);

  test("gives nothing beyond its own access, and touches nobody who has more, nor itself", async () => {
    for (const beyond of [
      { rights: ["command"] },
      { rights: ["files.read"] },
      { rights: ["files.read"], limits: { read_paths: ["plugins", "world"] } },
      { rights: ["files.write"], limits: { write_paths: ["plugins"] } },
    ] as Partial<Invite>[]) {
      assert.equal(await faultOf(invite("nested", beyond, inviter)), "access_beyond_own");
      assert.equal(await faultOf(change(weakerId, beyond)), "access_beyond_own");
    }
    for (const id of [strongerId, inviterId]) {
      assert.equal(await faultOf(change(id, { rights: ["see"] })), "access_beyond_own");
      assert.equal(await faultOf(remove(id)), "access_beyond_own");
    }
    assert.equal(await faultOf(remove("mem-none")), "member_not_found");
    const { members } = await listOf("nested", inviter);
    const mine = members.filter(({ may_change }) => may_change).map(({ id }) => id);
    assert.deepEqual(mine, [weakerId]);
    const within = { rights: ["files.read"] as MemberRight[], limits: { read_paths: ["plugins/x"] } };
    assert.deepEqual((await change(weakerId, within)).limits, { read_paths: ["plugins/x"] });
    const { invitation } = await invite("nested", within, inviter);
    const theirs = { name: "nested", id: invitation.id };
    assert.equal(await fixture.external.call(contracts.revoke, theirs, inviter), null);
  });

  test("cannot take back what the owner offers beyond it, and nobody without the right sees who is invited", async () => {
    const { invitation } = await invite("nested", { rights: [...memberRights] });
    const theirs = { name: "nested", id: invitation.id };
    assert.equal(
      await faultOf(fixture.external.call(contracts.revoke, theirs, inviter)),
      "access_beyond_own",
    );
    for (const who of [
      account("usr-weaker"),
      account("usr-nobody"),
      tokenOf("usr-owner", { rights: [...rights] }),
    ]) {
      assert.equal(await faultOf(listOf("nested", who)), "forbidden");
      assert.equal(await faultOf(invite("nested", {}, who)), "forbidden");
      assert.equal(await faultOf(change(weakerId, {}, who)), "forbidden");
      assert.equal(await faultOf(remove(weakerId, who)), "forbidden");
    }
    await fixture.external.call(contracts.revoke, theirs, owner);
  });

  test("staff see and end access on the operator console, and give none", async () => {
    assert.equal((await listOf("nested", staff)).members.length, 3);
    assert.equal(await faultOf(invite("nested", {}, staff)), "access_beyond_own");
    assert.equal(await faultOf(change(weakerId, {}, staff)), "access_beyond_own");
    assert.equal(await remove(weakerId, staff), null);
    assert.equal(await faultOf(remove(weakerId, staff)), "member_not_found");
  });

  test("its invitations give nothing any more once it has lost the right, or got less", async () => {
    const offered = { rights: ["power", "files.read"] as MemberRight[], limits: { read_paths: ["plugins"] } };
    const { secret = "" } = await invite("nested", offered, inviter);
    const less = async (asked: Partial<Invite>) => {
      await change(inviterId, asked, owner);
      return faultOf(fixture.external.call(contracts.look, { secret }, account("usr-guest")));
    };
    assert.equal(
      await less({ rights: ["power", "files.read"], limits: { read_paths: ["plugins"] } }),
      "invitation_over",
    );
    assert.equal(
      await less({ rights: ["invite", "files.read"], limits: { read_paths: ["plugins"] } }),
      "invitation_over",
    );
    assert.equal(await less({ ...own, limits: { read_paths: ["plugins/x"] } }), "invitation_over");
    assert.equal(
      await less({ ...own, ends_at: new Date(Date.now() + 3_600_000).toISOString() }),
      "invitation_over",
    );
    assert.equal(await less(own), "none");
    assert.equal(await remove(inviterId, owner), null);
    assert.equal(await faultOf(accept({ secret }, "usr-guest")), "invitation_over");
  });
});
