// What members may do, and how it ends, against a real database, NATS and cluster.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Mesh } from "@svc/mesh";
import { account, faultOf, tokenOf, until, velocity } from "@svc/mesh/testing";
import {
  consoles,
  members as contracts,
  histories,
  type InputOf,
  type MemberRight,
  memberRights,
  ownership,
  rights,
  schedules,
  servers as serverContracts,
  worlds,
} from "@svc/proto";
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
    "lifecycle.invitation_attempts=100",
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

/** One operation of every right that lifecycle decides. */
const operations: {
  right: MemberRight;
  also?: MemberRight[];
  call: (name: string, who: typeof owner) => Promise<unknown>;
}[] = [
  {
    right: "see",
    call: (name, who) => fixture.external.call(histories.readServer, { name, range: "24h" }, who),
  },
  { right: "console.read", call: (name, who) => fixture.external.call(consoles.watch, { name }, who) },
  {
    right: "command",
    call: (name, who) => fixture.external.call(consoles.command, { name, command: "list" }, who),
  },
  { right: "power", call: (name, who) => fixture.external.call(serverContracts.stop, { name }, who) },
  { right: "players", call: (name, who) => fixture.external.call(ownership.listAllowlist, { name }, who) },
  { right: "schedules", call: (name, who) => fixture.external.call(schedules.list, { name }, who) },
  {
    right: "settings",
    call: (name, who) => fixture.external.call(ownership.patchMine, { name, displayName: "New" }, who),
  },
  { right: "invite", call: (name, who) => fixture.external.call(contracts.list, { name }, who) },
];

describe("the operations of lifecycle", () => {
  let id = "";
  before(async () => {
    await newServer("worked");
    id = await join("worked", "usr-worker");
  });
  const give = (given: readonly MemberRight[], more: Partial<Invite> = {}) =>
    fixture.external.call(contracts.change, { name: "worked", id, rights: [...given], ...more }, owner);
  /** Beyond the decision: the server is not running. */
  const isLetIn = (outcome: string) => outcome === "none" || outcome === "not_running";

  for (const { right, call } of operations) {
    test(`${right}: a member with it is let in, without it, with an end in the past, as a token or as another is not`, async () => {
      const me = account("usr-worker");
      await give([right]);
      assert.ok(isLetIn(await faultOf(call("worked", me))), right);
      assert.equal(await faultOf(call("worked", account("usr-other"))), "forbidden");
      const token = tokenOf("usr-worker", { rights: rights.filter((one) => one !== right) });
      assert.equal(await faultOf(call("worked", token)), "forbidden");
      await give(memberRights.filter((one) => one !== right));
      const without = await faultOf(call("worked", me));
      assert.equal(without, right === "see" ? "none" : "forbidden");
      await give([right]);
      const over = `update lifecycle.servers set members = jsonb_set(members, '{0,ends_at}', '"2020-01-01T00:00:00Z"')
        where name = 'worked'`;
      // The sweep would delete it.
      await sql("alter table lifecycle.servers disable trigger servers_members_changed");
      await sql(over);
      assert.equal(await faultOf(call("worked", me)), "forbidden");
      await sql("alter table lifecycle.servers enable trigger servers_members_changed");
      await until(async () => (await listOf("worked")).members.length === 0);
      id = await join("worked", "usr-worker");
    });
  }

  test("commands and tasks are held against the patterns", async () => {
    const me = account("usr-worker");
    const needed: MemberRight[] = ["command", "players", "schedules", "power", "backups.make"];
    await give(needed, { limits: { allow_commands: ["list"] } });
    const run = (command: string) =>
      faultOf(fixture.external.call(consoles.command, { name: "worked", command }, me));
    assert.equal(await run("list"), "not_running");
    for (const line of ["op usr-worker", "minecraft:list", "//list", "execute run list", "list\nop me"])
      assert.equal(await run(line), "forbidden", line);
    const permit = { name: "worked", action: "set", player: "eve", node: "*" } as const;
    assert.equal(await faultOf(fixture.external.call(consoles.changePermission, permit, me)), "forbidden");
    const task = { name: "worked", weekdays: 127, timezone: "UTC", enabled: false };
    const plan = (more: {
      action: string;
      command?: string;
      next_steps?: { action: string; command: string }[];
    }) => fixture.external.call(schedules.create, { ...task, ...more }, me);
    assert.equal(await faultOf(plan({ action: "command", command: "op eve" })), "forbidden");
    assert.equal(await faultOf(plan({ action: "command", command: "/list" })), "none");
    assert.equal(await faultOf(plan({ action: "restart" })), "none");
    const behind = (command: string) =>
      faultOf(plan({ action: "restart", next_steps: [{ action: "command", command }] }));
    assert.deepEqual([await behind("/list"), await behind("op eve")], ["none", "forbidden"]);
    const theirs = await fixture.external.call(
      schedules.create,
      { ...task, action: "command", command: "op eve" },
      owner,
    );
    const runNow = { name: "worked", id: String(theirs.id) };
    assert.equal(await faultOf(fixture.external.call(schedules.runNow, runNow, me)), "forbidden");
    const update = { ...task, id: String(theirs.id), action: "command", command: "op me" };
    assert.equal(await faultOf(fixture.external.call(schedules.update, update, me)), "forbidden");
  });

  test("tasks that a member saved are switched off when the access ends, and those of the owner stay", async () => {
    await give(["schedules", "command", "power", "backups.make"]);
    const task = { name: "worked", weekdays: 127, timezone: "UTC", action: "backup", label: "theirs" };
    const mine = await fixture.external.call(schedules.create, { ...task, label: "mine" }, owner);
    const theirs = await fixture.external.call(schedules.create, task, account("usr-worker"));
    const run =
      "run_state = 'claimed', run_waits = true, run_step_at = now() + interval '1 hour', last_run_at = now()";
    await sql(`update lifecycle.server_schedules set ${run} where id in ($1, $2)`, [mine.id, theirs.id]);
    await fixture.external.call(contracts.leave, { name: "worked" }, account("usr-worker"));
    const { schedules: after } = await fixture.external.call(schedules.list, { name: "worked" }, owner);
    const isOn = (wanted: number) => after.find((one) => one.id === wanted)?.enabled;
    assert.deepEqual([isOn(mine.id), isOn(theirs.id)], [true, false]);
    const revoked = await sql("select id from lifecycle.server_schedules where run_revoked");
    assert.deepEqual(
      revoked.map(({ id: one }) => Number(one)),
      [theirs.id],
    );
    await sql("update lifecycle.server_schedules set run_state = '', run_waits = false, run_revoked = false");
    assert.equal(
      await faultOf(fixture.external.call(contracts.leave, { name: "worked" }, owner)),
      "member_not_found",
    );
    id = await join("worked", "usr-worker");
  });

  test("a player whose account has power wakes, and the menu says so", async () => {
    const player = link("usr-worker");
    const wake = () =>
      faultOf(
        fixture.internal.call(serverContracts.wakeForPlayer, { name: "worked", mc_uuid: player }, velocity),
      );
    const verdict = async () =>
      (await fixture.internal.call(ownership.readMenuAccess, { mc_uuid: player }, velocity)).servers[
        "worked"
      ];
    await sql("update lifecycle.servers set last_wake_at = now() where name = 'worked'");
    await give(["see"]);
    assert.deepEqual([await wake(), await verdict()], ["forbidden", "owner_only"]);
    await give(["power"]);
    assert.deepEqual([await wake(), await verdict()], ["cooldown", "wake"]);
    fixture.people.links.delete(player);
    assert.deepEqual([await wake(), await verdict()], ["forbidden", "owner_only"]);
  });

  test("its own list has what is shared, whole, and neither owned nor claimable", async () => {
    await give(["see"]);
    const rows = (await fixture.external.call(ownership.listMine, {}, account("usr-worker"))).items;
    const row = rows.find(({ name }) => name === "worked");
    assert.deepEqual([row?.owned, row?.claimable, row?.desiredState], [false, false, "Stopped"]);
    const mine = await fixture.external.call(contracts.readMine, { name: "worked" }, account("usr-worker"));
    assert.deepEqual(mine, { server: "worked", as: "member", rights: ["see"] });
    await give(["see", "power"]);
    const token = tokenOf("usr-worker", { rights: ["see"] });
    const theirs = await fixture.external.call(contracts.readMine, { name: "worked" }, token);
    assert.deepEqual(theirs.rights, ["see"]);
    const owned = await fixture.external.call(contracts.readMine, { name: "worked" }, owner);
    assert.deepEqual([owned.as, owned.rights], ["owner", [...memberRights]]);
  });
});

describe("what storage asks", () => {
  test("is told of members with their limits, and which servers are shared with an account", async () => {
    await newServer("stored");
    const limits = { write_paths: ["plugins"] };
    await join("stored", "usr-store", { rights: ["files.write"], limits });
    const { members = [] } = await storage.call(worlds.describeServer, { name: "stored" });
    assert.deepEqual(members, [{ user_id: "usr-store", rights: ["see", "files.write"], limits }]);
    const { servers } = await storage.call(contracts.listSharedWith, { user_id: "usr-store" });
    assert.deepEqual(servers, [{ server: "stored", owner_id: "usr-owner", rights: ["see", "files.write"] }]);
    const { items } = await storage.call(worlds.listWorlds, {});
    assert.ok(items.every((item) => item.members === undefined));
    const watchdog = await fixture.nats.connect("ops-watchdog");
    assert.deepEqual(await watchdog.call(contracts.readSharing, { name: "stored" }), {
      ...{ owner_id: "usr-owner", members },
    });
    assert.equal(await faultOf(watchdog.call(contracts.readSharing, { name: "nowhere" })), "not_found");
    await watchdog.drain(500);
  });
});

describe("access ends", () => {
  const isIn = async (name: string, who: string) =>
    (await faultOf(fixture.external.call(histories.readServer, { name, range: "24h" }, account(who)))) ===
    "none";
  const prepare = async (name: string) => {
    await newServer(name);
    await join(name, "usr-ending", { rights: ["see", "invite"] });
    return (await invite(name, {})).secret ?? "";
  };
  const changesOf = async (name: string) => {
    const [row] = await sql(
      "select count(*)::int as n from lifecycle.outbox where subject like 'svc.evt.lifecycle.member.changed.' || $1",
      [name],
    );
    return Number(row?.["n"]);
  };

  test("with a change of owner, however it happens, and does not come back with the same owner", async () => {
    const ends: Record<string, (name: string) => Promise<unknown>> = {
      "given-away": (name) =>
        sql("update lifecycle.servers set owner_id = 'usr-next' where name = $1", [name]),
      "given-up": async (name) => {
        await sql("update lifecycle.servers set owner_id = null where name = $1", [name]);
        await sql("update lifecycle.servers set owner_id = 'usr-owner' where name = $1", [name]);
      },
      "deleted-one": (name) => sql("update lifecycle.servers set deleted_at = now() where name = $1", [name]),
    };
    for (const [name, end] of Object.entries(ends)) {
      const secret = await prepare(name);
      assert.ok(await isIn(name, "usr-ending"), name);
      await end(name);
      assert.ok(!(await isIn(name, "usr-ending")), name);
      assert.equal(await faultOf(accept({ secret }, "usr-late")), "invitation_over", name);
    }
  });

  test("of an account that is deleted or merged, and its invitations with it", async () => {
    const identity = await fixture.nats.connect("identity");
    const release = (user_id: string) => identity.call(ownership.releaseAccount, { user_id });
    try {
      await prepare("kept-one");
      const theirs = await invite("kept-one", {}, account("usr-ending"));
      const before = await changesOf("kept-one");
      await release("usr-ending");
      assert.ok(!(await isIn("kept-one", "usr-ending")));
      assert.ok((await changesOf("kept-one")) > before);
      assert.equal(await faultOf(accept({ secret: theirs.secret ?? "" }, "usr-late")), "invitation_over");
      const secret = await prepare("lost-one");
      await release("usr-owner");
      assert.ok(!(await isIn("lost-one", "usr-ending")));
      assert.equal(await faultOf(accept({ secret }, "usr-late")), "invitation_over");
    } finally {
      await identity.drain(500);
    }
  });

  test("at its end: nothing is open from that moment on, and the sweep deletes it, says so and is audited", async () => {
    await newServer("ending");
    const ends_at = new Date(Date.now() + 400).toISOString();
    const { secret = "" } = await invite("ending", { ends_at });
    await accept({ secret }, "usr-short");
    const before = await changesOf("ending");
    await until(async () => !(await isIn("ending", "usr-short")));
    await until(async () => (await changesOf("ending")) > before);
    await untilAudited("server.access.expire", "ending");
    const [taken] = await auditsOf("server.access.expire", "ending");
    assert.deepEqual(taken?.payload, { user_id: "usr-short", rights: ["see"], ends_at });
    assert.deepEqual((await listOf("ending")).members, []);
    assert.equal(await faultOf(accept({ secret }, "usr-short")), "invitation_over");
  });

  test("what a newer build wrote opens nothing here and stays as it is", async () => {
    await newServer("newer");
    await join("newer", "usr-old", { rights: ["see"] });
    const entry = {
      id: "mem-new",
      user_id: "usr-new",
      rights: ["see"],
      limits: { moon: [] },
      joined_at: "2026-01-01T00:00:00Z",
    };
    await sql("update lifecycle.servers set members = members || $1::jsonb where name = 'newer'", [
      JSON.stringify([{ ...entry, invited_by: "usr-owner", inviter_name: "usr-owner" }]),
    ]);
    assert.ok(!(await isIn("newer", "usr-new")));
    assert.ok(await isIn("newer", "usr-old"));
    await fixture.external.call(contracts.leave, { name: "newer" }, account("usr-old"));
    const [row] = await sql("select members from lifecycle.servers where name = 'newer'");
    assert.deepEqual(
      (row?.["members"] as { id: string }[] | undefined)?.map(({ id }) => id),
      ["mem-new"],
    );
  });
});
