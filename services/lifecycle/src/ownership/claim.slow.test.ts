import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { account, faultOf, until, velocity } from "@svc/mesh/testing";
import { ownership as contracts, players } from "@svc/proto";
import { createSemaphore } from "@svc/service/semaphore";
import { annotation, servers } from "../cluster/resource.ts";
import { noLimits } from "../testing/fake-services.ts";
import { namespace } from "../testing/fixture.ts";
import {
  type CreateInput,
  createOwnershipOperations,
  type OwnershipFixture,
  openOwnershipFixture,
} from "../testing/ownership-operations.ts";

let fixture: OwnershipFixture;
before(async () => {
  fixture = await openOwnershipFixture();
});
after(() => fixture.close());

const { create, createAll, sql, rowOf, ownerOf, link, claim, claimFor, auditsOf, untilAudited } =
  createOwnershipOperations(() => fixture);
const count = (results: string[], result: string) => results.filter((each) => each === result).length;

describe("claiming", () => {
  test("a player's claim gives the server to the linked account, with fresh dates and an empty allowlist", async () => {
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
    await untilAudited("server.claim", "first-one");
    const [entry] = await auditsOf("server.claim", "first-one");
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
  test("what cannot be claimed is refused with its own fault", async () => {
    await create("free-one");
    for (const [fact, call, fault] of refusals) assert.equal(await faultOf(call()), fault, fact);
    assert.equal(await ownerOf("free-one"), null);
  });

  test("a server that is not claimable is not offered to players, and staff may claim it", async () => {
    await create("unoffered", { claimable: false });
    const player = link("usr-stranger");
    assert.equal(await faultOf(claimFor("unoffered", player)), "forbidden");
    assert.equal(await faultOf(claim("unoffered", "usr-stranger")), "forbidden");
    const menu = await fixture.internal.call(contracts.readMenu, { name: "unoffered" }, velocity);
    assert.equal(menu.claimable, false);
    const { items } = await fixture.external.call(contracts.listMine, {}, account("usr-stranger"));
    assert.equal(
      items.some(({ name }) => name === "unoffered"),
      false,
    );
    const { metadata } = await fixture.kube.get(servers, { name: "unoffered", namespace });
    assert.equal(metadata.annotations?.[annotation.offered], "false");
    await claimFor("unoffered", link("usr-operator", "admin"));
    assert.equal(await ownerOf("unoffered"), "usr-operator");
  });

  test("an object whose rows were lost is offered as when it was created", async () => {
    await create("lost-rows", { claimable: false });
    await sql("delete from lifecycle.servers where name = 'lost-rows'");
    assert.equal(await faultOf(claimFor("lost-rows", link("usr-finder"))), "forbidden");
  });

  test("a server is created for an owner within the owner's quota, or not at all", async () => {
    link("usr-given");
    await create("given-one", { owner: "usr-given", claimable: false });
    assert.equal(await ownerOf("given-one"), "usr-given");
    fixture.people.limits.set("usr-given", { ...noLimits, max_servers: 1 });
    assert.equal(await faultOf(create("given-more", { owner: "usr-given" })), "quota_exceeded");
    fixture.people.disabled.add("usr-barred");
    assert.equal(await faultOf(create("given-more", { owner: "usr-barred" })), "bad_request");
    assert.equal(await fixture.kube.find(servers, { name: "given-more", namespace }), undefined);
    assert.deepEqual(await sql("select 1 from lifecycle.servers where name = 'given-more'"), []);
  });

  test("a disabled account and one at its quota own nothing, and unreadable limits are not limits of zero", async () => {
    const player = link("usr-disabled");
    fixture.people.disabled.add("usr-disabled");
    assert.equal(await faultOf(claimFor("free-one", player)), "forbidden");
    link("usr-full");
    fixture.people.limits.set("usr-full", { ...noLimits, max_servers: 0 });
    assert.equal(await faultOf(claim("free-one", "usr-full")), "quota_exceeded");
    fixture.people.isAway = true;
    assert.equal(
      await faultOf(claimFor("free-one", player)).finally(() => {
        fixture.people.isAway = false;
      }),
      "unavailable",
    );
    assert.equal(await ownerOf("free-one"), null);
  });

  test("a server that is retiring or being archived is not claimed", async () => {
    link("usr-1");
    await create("going-one");
    await sql("update lifecycle.servers set retire_requested_at = now() where name = 'going-one'");
    assert.equal(await faultOf(claim("going-one", "usr-1")), "server_retiring");
    await create("reaped-one");
    const lock = { [annotation.maintenance]: `reap@${new Date().toISOString()}` };
    await fixture.kube.patch(
      servers,
      { name: "reaped-one", namespace },
      { merge: { metadata: { annotations: lock } } },
    );
    assert.equal(await faultOf(claim("reaped-one", "usr-1")), "world_reclaiming");
    assert.equal(await ownerOf("reaped-one"), null);
  });

  test("of 200 concurrent claims of one server exactly one wins", async () => {
    await create("wanted");
    const players = Array.from({ length: 200 }, (_, index) => link(`usr-racer-${index}`));
    // All at once would wait for their turn for longer than a request may take on a slow machine.
    const atOnce = createSemaphore(32);
    const claimWanted = (player: string) => atOnce.run(() => faultOf(claimFor("wanted", player)));
    const results = await Promise.all(players.map(claimWanted));
    assert.equal(count(results, "none"), 1, [...new Set(results)].join());
    assert.equal(count(results, "already_claimed"), 199);
    await untilAudited("server.claim", "wanted");
    const events = await sql(
      "select 1 from lifecycle.outbox where subject = 'svc.evt.lifecycle.server.claimed.wanted'",
    );
    assert.equal(events.length, 1);
    assert.equal((await auditsOf("server.claim", "wanted")).length, 1);
  });

  test("a claim whose caller got a failure does not succeed later", async () => {
    await createAll("late", 6);
    link("usr-late-claimer");
    const hang = Promise.withResolvers<void>();
    fixture.people.onLimits = () => hang.promise;
    // Each of the two replicas handles four at a time; these wait for identity until their deadline.
    const short = { ...account("usr-late-claimer"), deadlineAt: Date.now() + 500 };
    const call = (name: string) => fixture.external.call(contracts.claim, { name }, short);
    const names = Array.from({ length: 6 }, (_, index) => `late-${index}`);
    const results = await Promise.all(names.map((name) => faultOf(call(name))));
    fixture.people.onLimits = undefined;
    hang.resolve();
    assert.deepEqual(new Set(results), new Set(["unavailable"]));
    // The next claim of this account gets the lock only after all earlier ones have ended.
    await create("late-last");
    assert.equal(await faultOf(claim("late-last", "usr-late-claimer")), "none");
    const owned = await sql("select name from lifecycle.servers where owner_id = 'usr-late-claimer'");
    assert.deepEqual(owned, [{ name: "late-last" }]);
  });

  test("a claim that the database holds up for longer than its caller waits does not succeed later", async () => {
    const names = await createAll("held-up", 2);
    link("usr-held-up");
    const lock = "lock table lifecycle.server_allowlist in access exclusive mode";
    const held = sql(`begin; ${lock}; select pg_sleep(2); commit`);
    const locks =
      "select 1 from pg_locks where relation = 'lifecycle.server_allowlist'::regclass and mode = 'AccessExclusiveLock' and granted";
    await until(async () => (await sql(locks)).length > 0);
    const short = { ...account("usr-held-up"), deadlineAt: Date.now() + 700 };
    const late = faultOf(fixture.external.call(contracts.claim, { name: names[0] ?? "" }, short));
    assert.equal(await late, "unavailable");
    await held;
    // The next claim of this account gets the lock only after the late one has ended.
    assert.equal(await faultOf(claim(names[1] ?? "", "usr-held-up")), "none");
    const owned = await sql("select name from lifecycle.servers where owner_id = 'usr-held-up'");
    assert.deepEqual(owned, [{ name: names[1] }]);
  });

  const dimensions: [what: string, limits: Partial<typeof noLimits>, input: Partial<CreateInput>][] = [
    ["servers", { max_servers: 3 }, {}],
    ["cpu", { max_cpu_milli: 1_700 }, { resources: { cpu: "500m" } }],
    ["memory", { max_memory_mb: 3_500 }, { memory: "1Gi" }],
    ["storage", { max_storage_gb: 7 }, { storage: "2Gi" }],
  ];
  for (const [what, limits, input] of dimensions) {
    test(`of twelve concurrent claims by one account with quota for three in ${what} exactly three win`, async () => {
      const names = await createAll(`room-${what}`, 12, input);
      const user = `usr-room-${what}`;
      const player = link(user);
      fixture.people.limits.set(user, { ...noLimits, ...limits });
      const results = await Promise.all(
        names.map((name, index) => faultOf(index % 2 ? claim(name, user) : claimFor(name, player))),
      );
      assert.equal(count(results, "none"), 3, results.join());
      assert.equal(count(results, "quota_exceeded"), 9);
      const { counts } = await fixture.identity.call(contracts.countOwned, {
        user_ids: [user, "usr-nobody"],
      });
      assert.deepEqual(counts, { [user]: 3 });
    });
  }

  test("a player is found by part of the name at the last join, whose characters are not wildcards", async () => {
    const player = link("usr-named");
    await sql("insert into lifecycle.player_names (mc_uuid, name, seen_at) values ($1, 'Al_x99', now())", [
      player,
    ]);
    for (const [text, found] of [
      ["l_X9", [player]],
      ["l_x_", []],
    ] as const) {
      const answer = await fixture.identity.call(players.findByName, { text });
      assert.deepEqual(answer, { mc_uuids: found }, text);
    }
  });

  test("a player's name is that of the last join", async () => {
    const player = link("usr-renamed");
    const nameOf = (mc_uuid: string) => fixture.identity.call(players.readName, { mc_uuid });
    assert.deepEqual(await nameOf(player), {});
    await sql("insert into lifecycle.player_names (mc_uuid, name, seen_at) values ($1, 'Ada', now())", [
      player,
    ]);
    assert.deepEqual(await nameOf(player), { name: "Ada" });
  });

  test("an account that is deleted during a claim owns nothing afterwards", async () => {
    link("usr-leaving");
    await create("left-behind");
    let released: Promise<unknown> = Promise.resolve();
    // The account is reported active, and deleted before that answer arrives.
    fixture.people.onLimits = async () => {
      fixture.people.onLimits = undefined;
      fixture.people.disabled.add("usr-leaving");
      released = fixture.identity.call(contracts.releaseAccount, { user_id: "usr-leaving" });
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
