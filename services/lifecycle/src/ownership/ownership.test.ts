// Claims, give-ups, the allowlist and the menus on real servers.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { account, faultOf, staff, until, velocity } from "@svc/mesh/testing";
import { ownership as contracts, type InputOf, servers as serverContracts } from "@svc/proto";
import { annotation, label, servers } from "../cluster/resource.ts";
import { noLimits } from "../testing/fake-services.ts";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";

const noImage = "svc.local/nothing:1";
const smallPages = ["lifecycle.list_page=7"];
let stage: Fixture;
let identity: Mesh;
before(async () => {
  stage = await openFixture();
  // Two replicas, so that nothing here holds only because one process does everything.
  await Promise.all([stage.start(smallPages), stage.start(smallPages)]);
  identity = await stage.nats.connect("identity");
  const system = { name: "lobby", namespace, labels: { [label.systemRole]: "lobby" } };
  const spec = { subdomain: "lobby", image: noImage, reaperExempt: true };
  const head = { apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" };
  await stage.kube.create(servers, { ...head, metadata: system, spec });
});
after(async () => {
  await identity.drain(500);
  await stage.close();
});

type CreateInput = InputOf<typeof serverContracts.create>;
const create = (name: string, input: Partial<CreateInput> = {}) => {
  const about = { name, subdomain: name, image: noImage, ...input };
  return stage.external.call(serverContracts.create, about, staff);
};
const createAll = (prefix: string, count: number, input: Partial<CreateInput> = {}) =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => (await create(`${prefix}-${index}`, input)).name),
  );
const sql = (text: string, values: unknown[] = []) => stage.database.admin(text, values);
const rowOf = async (name: string) => {
  const [row] = await sql("select * from lifecycle.servers where name = $1", [name]);
  assert.ok(row, `${name} has a row`);
  return row;
};
const ownerOf = async (name: string) => (await rowOf(name))["owner_id"];
const specOf = async (name: string) => (await stage.kube.get(servers, { name, namespace })).spec;
const link = (user_id: string, role: "user" | "admin" = "user") => {
  const player = randomUUID();
  stage.people.links.set(player, { user_id, role });
  return player;
};
const claim = (name: string, user: string) => stage.external.call(contracts.claim, { name }, account(user));
const claimFor = (name: string, mc_uuid: string) =>
  stage.internal.call(contracts.claimForPlayer, { name, mc_uuid }, velocity);
const audits = async (action: string, name: string) =>
  (await stage.audits()).filter((entry) => entry.action === action && entry.server_name === name);
const audited = (action: string, name: string) => until(async () => (await audits(action, name)).length > 0);
const count = (results: string[], result: string) => results.filter((each) => each === result).length;

describe("claiming", () => {
  test("a player's claim gives the server to the linked account, fresh and with an empty allowlist", async () => {
    await create("first-one", { memory: "3Gi", resources: { cpu: "1500m" } });
    const player = link("usr-1");
    await sql(
      "update lifecycle.servers set last_active_at = '2020-01-01', warned_3d_at = now(), warned_1d_at = now(), cached_memory_mb = 1 where name = 'first-one'",
    );
    await sql("insert into lifecycle.server_allowlist (server_name, mc_uuid) values ('first-one', $1)", [
      player,
    ]);
    assert.deepEqual(await claimFor("first-one", player), { name: "first-one", claimed: true });
    const row = await rowOf("first-one");
    assert.deepEqual(
      [
        row["owner_id"],
        row["warned_3d_at"],
        row["warned_1d_at"],
        row["cached_memory_mb"],
        row["cached_cpu_milli"],
      ],
      ["usr-1", null, null, 3_072, 1_500],
    );
    assert.ok(Date.now() - (row["last_active_at"] as Date).getTime() < 60_000);
    assert.ok(Date.now() - (row["claimed_at"] as Date).getTime() < 60_000);
    assert.deepEqual(
      await sql("select 1 from lifecycle.server_allowlist where server_name = 'first-one'"),
      [],
    );
    await audited("server.claim", "first-one");
    const [entry] = await audits("server.claim", "first-one");
    assert.deepEqual([entry?.source, entry?.actor_user_id], ["internal:velocity", "usr-1"]);
    const events = await sql(
      "select body from lifecycle.outbox where subject = 'svc.evt.lifecycle.server.claimed.first-one'",
    );
    assert.equal(JSON.parse(String(events[0]?.["body"])).user_id, "usr-1");
  });

  const refusals: [fact: string, call: () => Promise<unknown>, fault: string][] = [
    ["a server that is owned", () => claim("first-one", "usr-1"), "already_claimed"],
    ["a server that does not exist", () => claim("nobody-here", "usr-1"), "not_found"],
    ["a name that is none", () => claimFor("-x-", randomUUID()), "bad_name"],
    ["a server of the platform", () => claimFor("lobby", randomUUID()), "bad_name"],
    ["a server of the platform on the web", () => claim("lobby", "usr-1"), "bad_name"],
    ["a free server by a player without account", () => claimFor("free-one", randomUUID()), "not_linked"],
    ["a free server by an account without player", () => claim("free-one", "usr-unlinked"), "not_linked"],
  ];
  test("what cannot be claimed is refused by name", async () => {
    await create("free-one");
    for (const [fact, call, fault] of refusals) assert.equal(await faultOf(call()), fault, fact);
    assert.equal(await ownerOf("free-one"), null);
  });

  test("a server that its operator kept back is offered to nobody, and is staff's to take", async () => {
    await create("unoffered", { claimable: false });
    const player = link("usr-stranger");
    assert.equal(await faultOf(claimFor("unoffered", player)), "forbidden");
    assert.equal(await faultOf(claim("unoffered", "usr-stranger")), "forbidden");
    const menu = await stage.internal.call(contracts.readMenu, { name: "unoffered" }, velocity);
    assert.equal(menu.claimable, false);
    const { items } = await stage.external.call(contracts.listMine, {}, account("usr-stranger"));
    assert.equal(
      items.some(({ name }) => name === "unoffered"),
      false,
    );
    const { metadata } = await stage.kube.get(servers, { name: "unoffered", namespace });
    assert.equal(metadata.annotations?.[annotation.offered], "false");
    await claimFor("unoffered", link("usr-operator", "admin"));
    assert.equal(await ownerOf("unoffered"), "usr-operator");
  });

  test("an object whose rows were lost is offered as its creation said", async () => {
    await create("lost-rows", { claimable: false });
    await sql("delete from lifecycle.servers where name = 'lost-rows'");
    assert.equal(await faultOf(claimFor("lost-rows", link("usr-finder"))), "forbidden");
  });

  test("a server is made for its owner, within what the owner may have, or not at all", async () => {
    link("usr-given");
    await create("given-one", { owner: "usr-given", claimable: false });
    assert.equal(await ownerOf("given-one"), "usr-given");
    stage.people.limits.set("usr-given", { ...noLimits, max_servers: 1 });
    assert.equal(await faultOf(create("given-more", { owner: "usr-given" })), "quota_exceeded");
    stage.people.disabled.add("usr-barred");
    assert.equal(await faultOf(create("given-more", { owner: "usr-barred" })), "bad_request");
    assert.equal(await stage.kube.find(servers, { name: "given-more", namespace }), undefined);
    assert.deepEqual(await sql("select 1 from lifecycle.servers where name = 'given-more'"), []);
  });

  test("a disabled account and one without room own nothing, and limits that cannot be read are no limits of zero", async () => {
    const player = link("usr-disabled");
    stage.people.disabled.add("usr-disabled");
    assert.equal(await faultOf(claimFor("free-one", player)), "forbidden");
    link("usr-full");
    stage.people.limits.set("usr-full", { ...noLimits, max_servers: 0 });
    assert.equal(await faultOf(claim("free-one", "usr-full")), "quota_exceeded");
    stage.people.isAway = true;
    assert.equal(
      await faultOf(claimFor("free-one", player)).finally(() => {
        stage.people.isAway = false;
      }),
      "unavailable",
    );
    assert.equal(await ownerOf("free-one"), null);
  });

  test("a server that is being given up or archived is not claimed", async () => {
    link("usr-1");
    await create("going-one");
    await sql("update lifecycle.servers set retire_requested_at = now() where name = 'going-one'");
    assert.equal(await faultOf(claim("going-one", "usr-1")), "server_retiring");
    await create("reaped-one");
    const lock = { [annotation.maintenance]: `reap@${new Date().toISOString()}` };
    await stage.kube.patch(
      servers,
      { name: "reaped-one", namespace },
      { merge: { metadata: { annotations: lock } } },
    );
    assert.equal(await faultOf(claim("reaped-one", "usr-1")), "world_reclaiming");
    assert.equal(await ownerOf("reaped-one"), null);
  });

  test("of 200 claims of one server at once exactly one wins", async () => {
    await create("wanted");
    const players = Array.from({ length: 200 }, (_, index) => link(`usr-racer-${index}`));
    const results = await Promise.all(players.map((player) => faultOf(claimFor("wanted", player))));
    assert.equal(count(results, "none"), 1, [...new Set(results)].join());
    assert.equal(count(results, "already_claimed"), 199);
    await audited("server.claim", "wanted");
    const events = await sql(
      "select 1 from lifecycle.outbox where subject = 'svc.evt.lifecycle.server.claimed.wanted'",
    );
    assert.equal(events.length, 1);
    assert.equal((await audits("server.claim", "wanted")).length, 1);
  });

  test("a claim whose caller was told that it failed does not come about later", async () => {
    await createAll("late", 6);
    link("usr-late-claimer");
    const hang = Promise.withResolvers<void>();
    stage.people.onLimits = () => hang.promise;
    // Each of the two replicas decides four at a time; these wait longer for identity than they may.
    const short = { ...account("usr-late-claimer"), deadlineAt: Date.now() + 500 };
    const call = (name: string) => stage.external.call(contracts.claim, { name }, short);
    const names = Array.from({ length: 6 }, (_, index) => `late-${index}`);
    const results = await Promise.all(names.map((name) => faultOf(call(name))));
    stage.people.onLimits = undefined;
    hang.resolve();
    assert.deepEqual(new Set(results), new Set(["unavailable"]));
    // The next claim of this account has the lock when nobody before it can claim any more.
    await create("late-last");
    assert.equal(await faultOf(claim("late-last", "usr-late-claimer")), "none");
    const owned = await sql("select name from lifecycle.servers where owner_id = 'usr-late-claimer'");
    assert.deepEqual(owned, [{ name: "late-last" }]);
  });

  const dimensions: [what: string, limits: Partial<typeof noLimits>, input: Partial<CreateInput>][] = [
    ["servers", { max_servers: 3 }, {}],
    ["cpu", { max_cpu_milli: 1_700 }, { resources: { cpu: "500m" } }],
    ["memory", { max_memory_mb: 3_500 }, { memory: "1Gi" }],
    ["storage", { max_storage_gb: 7 }, { storage: "2Gi" }],
  ];
  for (const [what, limits, input] of dimensions) {
    test(`of twelve claims at once by one account with room for three in ${what} exactly three win`, async () => {
      const names = await createAll(`room-${what}`, 12, input);
      const user = `usr-room-${what}`;
      const player = link(user);
      stage.people.limits.set(user, { ...noLimits, ...limits });
      const results = await Promise.all(
        names.map((name, index) => faultOf(index % 2 ? claim(name, user) : claimFor(name, player))),
      );
      assert.equal(count(results, "none"), 3, results.join());
      assert.equal(count(results, "quota_exceeded"), 9);
      const { counts } = await identity.call(contracts.countOwned, { user_ids: [user, "usr-nobody"] });
      assert.deepEqual(counts, { [user]: 3 });
    });
  }

  test("an account that is deleted while it claims owns nothing in the end", async () => {
    link("usr-leaving");
    await create("left-behind");
    let released: Promise<unknown> = Promise.resolve();
    // The account is said to be fine, and is deleted before that answer arrives.
    stage.people.onLimits = async () => {
      stage.people.onLimits = undefined;
      stage.people.disabled.add("usr-leaving");
      released = identity.call(contracts.releaseAccount, { user_id: "usr-leaving" });
      const waits =
        "select 1 from pg_locks join pg_database on oid = database where locktype = 'advisory' and not granted and datname = current_database()";
      const isWaiting = until(async () => (await sql(waits)).length > 0).catch(() => undefined);
      await Promise.race([released, isWaiting]);
    };
    await faultOf(claim("left-behind", "usr-leaving"));
    await released;
    assert.equal(await ownerOf("left-behind"), null);
    assert.equal(await faultOf(claim("left-behind", "usr-leaving")), "forbidden");
  });
});

describe("what identity asks", () => {
  test("a deleted account loses its servers, their worlds stay, their allowlists are emptied", async () => {
    await createAll("orphan", 2);
    await sql(
      "update lifecycle.servers set owner_id = 'usr-gone', last_active_at = '2020-01-01' where name like 'orphan-%'",
    );
    await sql("insert into lifecycle.server_allowlist (server_name, mc_uuid) values ('orphan-0', $1)", [
      randomUUID(),
    ]);
    const release = () => identity.call(contracts.releaseAccount, { user_id: "usr-gone" });
    assert.deepEqual(await release(), { released: ["orphan-0", "orphan-1"] });
    assert.deepEqual(await release(), { released: [] });
    assert.equal(await ownerOf("orphan-0"), null);
    assert.ok(((await rowOf("orphan-0"))["last_active_at"] as Date).getTime() > Date.now() - 60_000);
    assert.deepEqual(
      await sql("select 1 from lifecycle.server_allowlist where server_name = 'orphan-0'"),
      [],
    );
    assert.ok(await stage.kube.find(servers, { name: "orphan-0", namespace }));
  });

  const transfer = (transfer_id: string, max_servers: number | null) =>
    identity.call(contracts.transferAccount, {
      transfer_id,
      from_user_id: "usr-old",
      to_user_id: "usr-new",
      limits: { ...noLimits, max_servers },
    });

  test("all servers of an account move to another or none, and a repeat answers as the first", async () => {
    await createAll("moving", 3);
    await sql("update lifecycle.servers set owner_id = 'usr-old' where name like 'moving-%'");
    assert.equal(await faultOf(transfer("mig-1", 2)), "migrate_quota_exceeded");
    assert.equal(await ownerOf("moving-0"), "usr-old");
    const servers = ["moving-0", "moving-1", "moving-2"];
    const answers = await Promise.all([1, 2, 3, 4].map(() => transfer("mig-1", 3)));
    for (const answer of answers) assert.deepEqual(answer, { servers });
    for (const name of servers) assert.equal(await ownerOf(name), "usr-new");
    const events = await sql(
      "select 1 from lifecycle.outbox where subject like 'svc.evt.lifecycle.server.transferred.moving-%'",
    );
    assert.equal(events.length, 3);
  });

  test("a repeated migration does not take what the account owns by now", async () => {
    await create("later-one");
    await sql("update lifecycle.servers set owner_id = 'usr-old' where name = 'later-one'");
    assert.deepEqual(await transfer("mig-1", 3), { servers: ["moving-0", "moving-1", "moving-2"] });
    assert.equal(await ownerOf("later-one"), "usr-old");
  });

  test("an account is not migrated to itself", async () => {
    const to_user_id = "usr-old";
    const about = { transfer_id: "mig-3", from_user_id: "usr-old", to_user_id, limits: noLimits };
    assert.equal(await faultOf(identity.call(contracts.transferAccount, about)), "bad_request");
  });

  test("an account without servers moves none, also to one that is full", async () => {
    const answer = await identity.call(contracts.transferAccount, {
      transfer_id: "mig-2",
      from_user_id: "usr-without",
      to_user_id: "usr-new",
      limits: { ...noLimits, max_servers: 0 },
    });
    assert.deepEqual(answer, { servers: [] });
  });
});

describe("giving up and deleting", () => {
  const retire = (name: string, who = staff, more: { confirm?: string; delete?: boolean } = {}) =>
    stage.external.call(contracts.retire, { name, confirm: name, ...more }, who);
  const cancel = (name: string, who = staff) =>
    stage.external.call(contracts.cancelRetirement, { name }, who);
  const owner = account("usr-1");

  test("the owner gives up a running server: it is stopped, and neither woken nor claimed", async () => {
    await create("given-up", { autostartPolicy: "public" });
    await sql("update lifecycle.servers set owner_id = 'usr-1' where name = 'given-up'");
    await stage.external.call(serverContracts.wake, { name: "given-up" }, owner);
    const { retiring } = await retire("given-up", owner);
    assert.equal(retiring.delete, false);
    assert.equal((await specOf("given-up")).desiredState, "Stopped");
    await sql("update lifecycle.servers set last_wake_at = null where name = 'given-up'");
    assert.equal(
      await faultOf(stage.external.call(serverContracts.wake, { name: "given-up" }, owner)),
      "server_retiring",
    );
    await audited("server.release", "given-up");
    assert.equal(await ownerOf("given-up"), "usr-1");
    assert.deepEqual(await retire("given-up", owner), { name: "given-up", retiring });
    assert.equal((await audits("server.release", "given-up")).length, 1);
  });

  test("staff makes a deletion of it, which keeps its time and is not the owner's to call off", async () => {
    const first = (await rowOf("given-up"))["retire_requested_at"] as Date;
    assert.equal(await faultOf(retire("given-up", owner, { delete: true })), "forbidden");
    const deletion = { name: "given-up", retiring: { requested_at: first.toISOString(), delete: true } };
    assert.deepEqual(await retire("given-up", staff, { delete: true }), deletion);
    assert.deepEqual(await retire("given-up", owner), deletion);
    await audited("server.delete", "given-up");
    assert.equal(await faultOf(cancel("given-up", owner)), "forbidden");
    assert.equal(await cancel("given-up", staff), null);
    await audited("server.retire_cancel", "given-up");
    assert.equal((await rowOf("given-up"))["retire_requested_at"], null);
    assert.equal((await specOf("given-up")).desiredState, "Stopped");
    assert.equal(await cancel("given-up", owner), null);
  });

  const refusals: [fact: string, call: () => Promise<unknown>, fault: string][] = [
    [
      "another name as confirmation",
      () => retire("given-up", owner, { confirm: "given-in" }),
      "confirm_mismatch",
    ],
    ["somebody else's server", () => retire("given-up", account("usr-2")), "forbidden"],
    ["calling off what is somebody else's", () => cancel("given-up", account("usr-2")), "forbidden"],
    ["the lobby", () => retire("lobby"), "system_server"],
    ["calling off the lobby's", () => cancel("lobby"), "system_server"],
    ["the login gate, that is not here", () => retire("login"), "system_server"],
    ["a name that is none", () => retire("admin"), "bad_name"],
    ["a server that does not exist", () => retire("nobody-here"), "not_found"],
    ["calling off what does not exist", () => cancel("nobody-here"), "not_found"],
  ];
  test("what cannot be given up is refused by name", async () => {
    for (const [fact, call, fault] of refusals) assert.equal(await faultOf(call()), fault, fact);
  });

  test("a server that nothing may reap is not given up", async () => {
    await create("exempt-one");
    const merge = { spec: { reaperExempt: true } };
    await stage.kube.patch(servers, { name: "exempt-one", namespace }, { merge });
    assert.equal(await faultOf(retire("exempt-one")), "system_server");
  });

  test("a row whose object is gone is given up only when no volume is left", async () => {
    await sql("insert into lifecycle.servers (name) values ('gone-one'), ('gone-two')");
    await stage.kube.create(resources.claims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "world-gone-one-0", namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    assert.equal(await faultOf(retire("gone-one")), "world_volume_orphaned");
    assert.equal((await rowOf("gone-one"))["retire_requested_at"], null);
    assert.equal((await retire("gone-two", staff, { delete: true })).retiring.delete, true);
  });

  test("a give-up is not called off while the reaper works on the world", async () => {
    await create("in-work");
    await retire("in-work");
    const annotations = { [annotation.maintenance]: `reap@${new Date().toISOString()}` };
    await stage.kube.patch(servers, { name: "in-work", namespace }, { merge: { metadata: { annotations } } });
    assert.equal(await faultOf(cancel("in-work")), "world_reclaiming");
    assert.notEqual((await rowOf("in-work"))["retire_requested_at"], null);
  });

  test("a wake and a give-up at once leave the server stopped", async () => {
    for (let round = 0; round < 15; round++) {
      const name = `contested-${round}`;
      await create(name, { autostartPolicy: "public" });
      const player = randomUUID();
      const wake = stage.internal.call(serverContracts.wakeForPlayer, { name, mc_uuid: player }, velocity);
      const [woken] = await Promise.all([faultOf(wake), retire(name)]);
      assert.ok(["none", "server_retiring"].includes(woken), woken);
      assert.equal((await specOf(name)).desiredState, "Stopped", `round ${round}: ${woken}`);
    }
  });

  test("a name that a deletion has not freed yet is not created anew, one of nobody's leftover row is", async () => {
    assert.equal(await faultOf(create("gone-two")), "name_taken");
    await sql(
      "insert into lifecycle.servers (name, owner_id) values ('gone-three', 'usr-1'), ('gone-four', null)",
    );
    assert.equal(await faultOf(create("gone-three")), "name_taken");
    await sql("insert into lifecycle.server_allowlist (server_name, mc_uuid) values ('gone-four', $1)", [
      randomUUID(),
    ]);
    await create("gone-four");
    assert.deepEqual(
      await sql("select 1 from lifecycle.server_allowlist where server_name = 'gone-four'"),
      [],
    );
  });
});

describe("the allowlist", () => {
  const owner = account("usr-1");
  const list = (name: string, who = owner) => stage.external.call(contracts.listAllowlist, { name }, who);
  const change = (uuid: string, can_wake: boolean, who = owner) =>
    stage.external.call(contracts.changeAllowlist, { name: "listed", uuid, can_wake }, who);
  const [early, late] = [randomUUID(), randomUUID()];

  test("it shows who joined, the newest first, by name where there is an account", async () => {
    await create("listed", { autostartPolicy: "allowlist" });
    await sql("update lifecycle.servers set owner_id = 'usr-1' where name = 'listed'");
    stage.people.links.set(late, { user_id: "usr-late", role: "user" });
    const add =
      "insert into lifecycle.server_allowlist (server_name, mc_uuid, added_at) values ('listed', $1, $2)";
    await sql(add, [early, "2026-01-01T00:00:00Z"]);
    await sql(add, [late, "2026-01-02T00:00:00Z"]);
    const expected = [
      { mc_uuid: late, added_at: "2026-01-02T00:00:00.000Z", can_wake: true, username: "usr-late" },
      { mc_uuid: early, added_at: "2026-01-01T00:00:00.000Z", can_wake: true },
    ];
    assert.deepEqual(await list("listed"), { server: "listed", entries: expected });
    stage.people.isAway = true;
    const { entries } = await list("listed", staff).finally(() => {
      stage.people.isAway = false;
    });
    assert.deepEqual(
      entries.map(({ username }) => username),
      [undefined, undefined],
    );
  });

  test("a right that is taken away is gone until it is given back, and only changes are audited", async () => {
    const wake = () =>
      faultOf(
        stage.internal.call(serverContracts.wakeForPlayer, { name: "listed", mc_uuid: early }, velocity),
      );
    assert.equal(await change(early, false), null);
    assert.equal(await change(early.toUpperCase(), false), null);
    assert.equal(await wake(), "forbidden");
    await audited("allowlist.revoke", "listed");
    assert.equal(await change(early, true), null);
    assert.equal(await wake(), "none");
    await audited("allowlist.restore", "listed");
    assert.equal((await audits("allowlist.revoke", "listed")).length, 1);
  });

  test("it is the owner's and staff's alone, and nobody is put on it by hand", async () => {
    assert.equal(await faultOf(list("listed", account("usr-2"))), "forbidden");
    assert.equal(await faultOf(change(early, false, account("usr-2"))), "forbidden");
    assert.equal(await faultOf(change(randomUUID(), true)), "not_found");
    assert.equal(await faultOf(list("nobody-here")), "not_found");
    assert.equal(await faultOf(list("lobby", staff)), "bad_name");
  });
});

describe("menus and lists", () => {
  const access = async (mc_uuid: string) =>
    (await stage.internal.call(contracts.readMenuAccess, { mc_uuid }, velocity)).servers;
  const pagesOf = async (who: string) => {
    const pages = [];
    let cursor: string | undefined;
    do {
      const input = cursor === undefined ? {} : { cursor };
      const { items, next } = await stage.external.call(contracts.listMine, input, account(who));
      pages.push(items);
      cursor = next;
    } while (cursor !== undefined);
    return pages;
  };
  const mine = async (who: string) => new Map((await pagesOf(who)).flat().map((item) => [item.name, item]));

  test("a row of the menu says whether the server can be claimed", async () => {
    const menu = (name: string) => stage.internal.call(contracts.readMenu, { name }, velocity);
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

  test("every user server has one verdict for a player, and none that a wake would not bear out", async () => {
    const player = randomUUID();
    stage.people.links.set(player, { user_id: "usr-verdict", role: "user" });
    await createAll("verdict", 4);
    await sql("update lifecycle.servers set owner_id = 'usr-verdict' where name = 'verdict-0'");
    await stage.external.call(serverContracts.patch, { name: "verdict-1", autostartPolicy: "public" }, staff);
    await stage.external.call(
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
    await stage.internal.call(serverContracts.reportJoin, { name: "verdict-2", mc_uuid: player }, velocity);
    assert.equal((await access(player))["verdict-2"], "wake");
    for (const name of ["verdict-0", "verdict-1", "verdict-2", "verdict-3"]) {
      const wake = stage.internal.call(serverContracts.wakeForPlayer, { name, mc_uuid: player }, velocity);
      const isAllowed = (await faultOf(wake)) === "none";
      assert.equal(isAllowed, name !== "verdict-3", name);
    }
    stage.people.links.set(player, { user_id: "usr-verdict", role: "admin" });
    assert.equal((await access(player))["verdict-3"], "wake");
  });

  test("one's own list has what one owns and what is free, nothing else", async () => {
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

  test("a list that is longer than a page is whole, in order and without repeats", async () => {
    const pages = await pagesOf("usr-1");
    assert.ok(pages.length > 3);
    const names = pages.flat().map(({ name }) => name);
    assert.deepEqual(names, [...new Set(names)].sort());
    const free = await sql(
      `select name from lifecycle.servers where deleted_at is null and name not in ('lobby', 'gone-one') and
        (owner_id = 'usr-1' or owner_id is null and offered and retire_requested_at is null)`,
    );
    assert.deepEqual(new Set(names), new Set(free.map(({ name }) => String(name))));
  });
});
