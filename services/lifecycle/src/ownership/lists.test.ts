import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { Mesh } from "@svc/mesh";
import { account, faultOf, staff, tokenOf, until, velocity } from "@svc/mesh/testing";
import { ownership as contracts, histories, type InputOf, servers as serverContracts } from "@svc/proto";
import {
  createOwnershipOperations,
  type OwnershipFixture,
  openOwnershipFixture,
} from "../testing/ownership-operations.ts";

let fixture: OwnershipFixture;
before(async () => {
  fixture = await openOwnershipFixture();
});
after(() => fixture.close());

const { create, createAll, sql, claim, link, rowOf, specOf, auditsOf, untilAudited } =
  createOwnershipOperations(() => fixture);

describe("the allowlist", () => {
  const owner = account("usr-1");
  const list = (name: string, who = owner) => fixture.external.call(contracts.listAllowlist, { name }, who);
  const change = (uuid: string, can_wake: boolean, who = owner) =>
    fixture.external.call(contracts.changeAllowlist, { name: "listed", uuid, can_wake }, who);
  const [early, late] = [randomUUID(), randomUUID()];

  test("it shows who joined, the newest first, by name for linked players", async () => {
    await create("listed", { autostartPolicy: "allowlist" });
    await sql("update lifecycle.servers set owner_id = 'usr-1' where name = 'listed'");
    fixture.people.links.set(late, { user_id: "usr-late", role: "user" });
    const add =
      "insert into lifecycle.server_allowlist (server_name, mc_uuid, added_at) values ('listed', $1, $2)";
    await sql(add, [early, "2026-01-01T00:00:00Z"]);
    await sql(add, [late, "2026-01-02T00:00:00Z"]);
    const expected = [
      { mc_uuid: late, added_at: "2026-01-02T00:00:00.000Z", can_wake: true, username: "usr-late" },
      { mc_uuid: early, added_at: "2026-01-01T00:00:00.000Z", can_wake: true },
    ];
    assert.deepEqual(await list("listed"), { server: "listed", entries: expected });
    fixture.people.isAway = true;
    const { entries } = await list("listed", staff).finally(() => {
      fixture.people.isAway = false;
    });
    assert.deepEqual(
      entries.map(({ username }) => username),
      [undefined, undefined],
    );
  });

  test("a revoked right is gone until it is restored, and only changes are audited", async () => {
    const wake = () =>
      faultOf(
        fixture.internal.call(serverContracts.wakeForPlayer, { name: "listed", mc_uuid: early }, velocity),
      );
    assert.equal(await change(early, false), null);
    assert.equal(await change(early.toUpperCase(), false), null);
    assert.equal(await wake(), "forbidden");
    await untilAudited("allowlist.revoke", "listed");
    assert.equal(await change(early, true), null);
    assert.equal(await wake(), "none");
    await untilAudited("allowlist.restore", "listed");
    assert.equal((await auditsOf("allowlist.revoke", "listed")).length, 1);
  });

  test("only the owner and staff see it, and players are never added by hand", async () => {
    assert.equal(await faultOf(list("listed", account("usr-2"))), "forbidden");
    assert.equal(await faultOf(change(early, false, account("usr-2"))), "forbidden");
    assert.equal(await faultOf(change(randomUUID(), true)), "not_found");
    assert.equal(await faultOf(list("nobody-here")), "not_found");
    assert.equal(await faultOf(list("lobby", staff)), "bad_name");
  });
});

describe("menus and lists", () => {
  before(async () => {
    await createAll("page", 24);
    await create("first-one", { owner: "usr-1" });
    await create("going-one");
    await sql("insert into lifecycle.servers (name) values ('gone-two')");
    await sql(
      "update lifecycle.servers set retire_requested_at = now() where name in ('going-one', 'gone-two')",
    );
  });
  const access = async (mc_uuid: string) =>
    (await fixture.internal.call(contracts.readMenuAccess, { mc_uuid }, velocity)).servers;
  const pagesOf = async (who: string) => {
    const pages = [];
    let cursor: string | undefined;
    do {
      const input = cursor === undefined ? {} : { cursor };
      const { items, next } = await fixture.external.call(contracts.listMine, input, account(who));
      pages.push(items);
      cursor = next;
    } while (cursor !== undefined);
    return pages;
  };
  const mine = async (who: string) => new Map((await pagesOf(who)).flat().map((item) => [item.name, item]));

  test("a row of the menu says whether the server can be claimed", async () => {
    const menu = (name: string) => fixture.internal.call(contracts.readMenu, { name }, velocity);
    await create("menu-one");
    await until(async () => (await menu("menu-one")).phase === "Stopped");
    assert.deepEqual(await menu("menu-one"), {
      name: "menu-one",
      phase: "Stopped",
      ready: false,
      playersOnline: 0,
      playersMax: 0,
      claimable: true,
    });
    assert.equal((await menu("first-one")).claimable, false);
    assert.equal((await menu("going-one")).claimable, false);
    assert.equal((await menu("lobby")).claimable, false);
    assert.equal(await faultOf(menu("nobody-here")), "not_found");
    assert.equal(await faultOf(menu("-x-")), "bad_name");
  });

  test("every user server has one verdict for a player, which a wake confirms", async () => {
    const player = randomUUID();
    fixture.people.links.set(player, { user_id: "usr-verdict", role: "user" });
    await createAll("verdict", 4);
    await sql("update lifecycle.servers set owner_id = 'usr-verdict' where name = 'verdict-0'");
    await fixture.external.call(
      serverContracts.patch,
      { name: "verdict-1", autostartPolicy: "public" },
      staff,
    );
    await fixture.external.call(
      serverContracts.patch,
      { name: "verdict-2", autostartPolicy: "allowlist" },
      staff,
    );
    await until(async () => (await access(player))["verdict-2"] === "allowlist");
    const verdicts = await access(player);
    assert.equal("lobby" in verdicts, false);
    const seen = ["verdict-0", "verdict-1", "verdict-2", "verdict-3", "going-one"].map(
      (name) => verdicts[name],
    );
    assert.deepEqual(seen, ["owner", "wake", "allowlist", "owner_only", "retiring"]);
    await fixture.internal.call(serverContracts.reportJoin, { name: "verdict-2", mc_uuid: player }, velocity);
    assert.equal((await access(player))["verdict-2"], "wake");
    for (const name of ["verdict-0", "verdict-1", "verdict-2", "verdict-3"]) {
      const wake = fixture.internal.call(serverContracts.wakeForPlayer, { name, mc_uuid: player }, velocity);
      const isAllowed = (await faultOf(wake)) === "none";
      assert.equal(isAllowed, name !== "verdict-3", name);
    }
    fixture.people.links.set(player, { user_id: "usr-verdict", role: "admin" });
    assert.equal((await access(player))["verdict-3"], "wake");
  });

  test("the caller's list has owned and claimable servers and nothing else", async () => {
    const list = await mine("usr-verdict");
    assert.deepEqual(
      [list.get("verdict-0")?.owned, list.get("verdict-0")?.claimable, list.get("verdict-0")?.desiredState],
      [true, false, "Running"],
    );
    const free = list.get("menu-one");
    assert.deepEqual(
      [free?.owned, free?.claimable, free?.phase, free?.desiredState],
      [false, true, "Stopped", undefined],
    );
    for (const name of ["first-one", "going-one", "gone-two", "lobby"])
      assert.equal(list.has(name), false, name);
    assert.equal((await mine("usr-1")).get("first-one")?.owned, true);
  });

  test("a list longer than a page is complete, in order and without repeats", async () => {
    const pages = await pagesOf("usr-1");
    assert.ok(pages.length > 3);
    const names = pages.flat().map(({ name }) => name);
    assert.deepEqual(names, [...new Set(names)].sort());
    const free = await sql(
      `select name from lifecycle.servers where deleted_at is null and name <> 'lobby' and
        (owner_id = 'usr-1' or owner_id is null and offered and retire_requested_at is null)`,
    );
    assert.deepEqual(new Set(names), new Set(free.map(({ name }) => String(name))));
  });
});

describe("one's own quota", () => {
  test("says limits and what the caller's servers use, not those of others", async () => {
    for (const [name, owner] of [
      ["used-1", "usr-used"],
      ["used-2", "usr-used"],
      ["used-3", "usr-2"],
    ] as const) {
      await create(name, { memory: "2Gi", storage: "8Gi", resources: { cpu: "1500m" } });
      await sql("update lifecycle.servers set owner_id = $2 where name = $1", [name, owner]);
    }
    const limits = { max_servers: 3, max_cpu_milli: null, max_memory_mb: 8192, max_storage_gb: 0 };
    fixture.people.limits.set("usr-used", limits);
    const read = (who: string) => fixture.external.call(contracts.readMyQuota, {}, account(who));
    assert.deepEqual(await read("usr-used"), {
      limits,
      used: { servers: 2, cpu_milli: 3_000, memory_mb: 4_096, storage_mb: 16_384 },
      idle_stop: { min_seconds: 60, max_seconds: 21_600, may_be_off: false },
    });
    assert.equal((await read("usr-nothing")).used.servers, 0);
    fixture.people.isAway = true;
    assert.equal(
      await faultOf(read("usr-used")).finally(() => (fixture.people.isAway = false)),
      "unavailable",
    );
  });
});

describe("what an owner changes", () => {
  const owner = account("usr-own");
  const patch = (
    change: Omit<InputOf<typeof contracts.patchMine>, "name">,
    who: Parameters<Mesh["call"]>[2] = owner,
  ) => fixture.external.call(contracts.patchMine, { name: "mine", ...change }, who);
  const specNow = () => specOf("mine");

  test("is the display name, the wake policy and the idle stop within the bounds of the installation", async () => {
    await create("mine");
    await sql("update lifecycle.servers set owner_id = 'usr-own' where name = 'mine'");
    const answer = await patch({
      displayName: " My world ",
      autostartPolicy: "allowlist",
      idleStopSeconds: 900,
    });
    assert.deepEqual(answer, {
      name: "mine",
      patched: ["displayName", "autostartPolicy", "idleStopSeconds"],
    });
    const { displayName, autostartPolicy, idle } = await specNow();
    assert.deepEqual(
      [displayName, autostartPolicy, idle?.emptySecondsBeforeStop, idle?.autoStopEnabled],
      ["My world", "allowlist", 900, true],
    );
    for (const idleStopSeconds of [0, 59, 21_601]) {
      assert.equal(await faultOf(patch({ idleStopSeconds })), "bad_idle_stop", String(idleStopSeconds));
    }
    assert.equal(await faultOf(patch({ displayName: "x\u202ey" })), "bad_display_name");
    assert.equal(await faultOf(patch({})), "bad_request");
    await untilAudited("server.patch", "mine");
    assert.deepEqual((await auditsOf("server.patch", "mine"))[0]?.actor_user_id, "usr-own");
  });

  test("is nobody else's to change: strangers, staff, and whoever owned it before", async () => {
    const before = await specNow();
    const change = { displayName: "Stolen", autostartPolicy: "public" as const };
    assert.equal(await faultOf(patch(change, account("usr-2"))), "forbidden");
    assert.equal(await faultOf(patch(change, staff)), "forbidden");
    await sql("update lifecycle.servers set owner_id = 'usr-next' where name = 'mine'");
    assert.equal(await faultOf(patch(change)), "forbidden");
    await sql("update lifecycle.servers set owner_id = null where name = 'mine'");
    assert.equal(await faultOf(patch(change)), "forbidden");
    assert.deepEqual(await specNow(), before);
    const other = (name: string) =>
      faultOf(fixture.external.call(contracts.patchMine, { name, ...change }, owner));
    assert.deepEqual([await other("lobby"), await other("nobody-here")], ["bad_name", "not_found"]);
  });
});

describe("a server's activity", () => {
  const read = (who: Parameters<Mesh["call"]>[2], name = "watched") =>
    fixture.external.call(contracts.listActivity, { name, limit: 50 }, who);

  test("is read for its owner since the claim, for staff from the beginning, for nobody else", async () => {
    await create("watched", { claimable: true });
    link("usr-watch");
    await claim("watched", "usr-watch");
    const since = ((await rowOf("watched"))["claimed_at"] as Date).toISOString();
    fixture.people.activity.length = 0;
    assert.deepEqual(await read(account("usr-watch")), { entries: [], next: "1-1" });
    await read(staff);
    const about = { server: "watched", limit: 50 };
    assert.deepEqual(
      fixture.people.activity.map(({ viewer, ...rest }) => rest),
      [{ ...about, since }, about],
    );
    assert.equal(fixture.people.activity[0]?.viewer, "usr-watch");
    assert.equal(await faultOf(read(account("usr-2"))), "forbidden");
    assert.equal(await faultOf(read(account("usr-watch"), "lobby")), "bad_name");
    assert.equal(await faultOf(read(account("usr-watch"), "nobody-here")), "not_found");
    await sql(
      "update lifecycle.servers set owner_id = 'usr-next', claimed_at = now() where name = 'watched'",
    );
    assert.equal(await faultOf(read(account("usr-watch"))), "forbidden", "the former owner");
    await read(account("usr-next"));
    assert.ok((fixture.people.activity.at(-1)?.since ?? "") > since, "the next owner");
    assert.equal(fixture.people.activity.length, 3);
  });
});

describe("what an access includes", () => {
  const change = { given: ["power"], taken: [], limits: [] };
  const read = async (who: Parameters<Mesh["call"]>[2]) => {
    const asked = { name: "opened", limit: 50 };
    const { entries } = await fixture.external.call(contracts.listActivity, asked, who);
    return entries.map(({ id, access }) => (access ? id : `${id} without`));
  };

  test("is in the activity for who sees the members, and of one's own access", async () => {
    await create("opened", { claimable: true });
    link("usr-opener");
    await claim("opened", "usr-opener");
    const entry = { at: "2026-01-01T00:00:00.000Z", by: "account", payload: {} } as const;
    fixture.people.entries = [
      { ...entry, id: 1, action: "server.access.change", access: { ...change, account: "usr-sees" } },
      { ...entry, id: 2, action: "server.access.invite", access: change },
    ];
    const member = (id: string, rights: string[]) => ({
      ...{ id: `mem-${id}`, user_id: id, rights, joined_at: "2026-01-01T00:00:00Z" },
      ...{ invited_by: "usr-opener", inviter_name: "usr-opener" },
    });
    await sql("update lifecycle.servers set members = $1::jsonb where name = 'opened'", [
      JSON.stringify([
        member("usr-sees", ["see", "console.read"]),
        member("usr-invites", ["see", "console.read", "invite"]),
      ]),
    ]);
    try {
      assert.deepEqual(await read(account("usr-opener")), [1, 2]);
      assert.deepEqual(await read(staff), [1, 2]);
      assert.deepEqual(await read(account("usr-invites")), [1, 2]);
      assert.deepEqual(await read(account("usr-sees")), [1, "2 without"]);
      const token = tokenOf("usr-sees", { rights: ["see", "console.read"], servers: ["opened"] });
      assert.deepEqual(await read(token), ["1 without", "2 without"]);
    } finally {
      fixture.people.entries = [];
    }
  });
});

describe("a server's history", () => {
  const read = (who: Parameters<Mesh["call"]>[2], name = "charted") =>
    fixture.external.call(histories.readServer, { name, range: "24h" }, who);
  const hour = 3_600_000;
  const record = (at: Date, players: number) =>
    sql(
      `insert into lifecycle.server_history
        values ('charted', date_bin('5 minutes', $1::timestamptz, 'epoch'), 5, 1, $2, $2, 0, 0, 0, 0, 0)`,
      [at, players],
    );
  const valuesOf = (series: readonly (number | null)[]) => series.filter((value) => value !== null);

  test("is read by its owner since the claim, by staff from the beginning, by nobody else", async () => {
    await create("charted", { claimable: true });
    link("usr-chart");
    await claim("charted", "usr-chart");
    const now = Date.now();
    await sql("update lifecycle.servers set claimed_at = $1 where name = 'charted'", [
      new Date(now - 2 * hour),
    ]);
    await record(new Date(now - 3 * hour), 7);
    await record(new Date(now - hour), 4);
    const [own, whole] = await Promise.all([read(account("usr-chart")), read(staff)]);
    assert.deepEqual(valuesOf(own.players), [4]);
    assert.deepEqual(valuesOf(whole.players), [7, 4]);
    assert.deepEqual(valuesOf(whole.players_max), [7, 4]);
    assert.deepEqual([whole.step_seconds, whole.players.length, whole.memory_bytes.length], [300, 288, 288]);
    assert.deepEqual(
      [valuesOf(whole.memory_bytes), valuesOf(whole.cpu_milli), valuesOf(whole.tps)],
      [[], [], []],
    );
    assert.equal(await faultOf(read(account("usr-2"))), "forbidden");
    assert.equal(await faultOf(read(account("usr-chart"), "lobby")), "bad_name");
    assert.equal(await faultOf(read(account("usr-chart"), "nobody-here")), "not_found");
    await sql(
      "update lifecycle.servers set owner_id = 'usr-next', claimed_at = now() where name = 'charted'",
    );
    assert.equal(await faultOf(read(account("usr-chart"))), "forbidden", "the former owner");
    assert.deepEqual(valuesOf((await read(account("usr-next"))).players), [], "the next owner");
  });

  test("of the platform has a value for every step, and gaps where nobody sampled", async () => {
    const platform = await fixture.external.call(histories.readPlatform, { range: "30d" }, staff);
    assert.deepEqual([platform.step_seconds, platform.awake.length], [7_200, 360]);
    assert.deepEqual(
      [platform.awake[0], platform.wakes[0], platform.start_p50_seconds[0]],
      [null, null, null],
    );
  });
});
