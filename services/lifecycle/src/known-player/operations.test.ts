// Known players on a real database, two replicas and a cluster: visits, rights, notes, erasures.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { account, faultOf, staff, tokenOf, velocity } from "@svc/mesh/testing";
import {
  knownPlayers as contracts,
  type InputOf,
  type MemberRight,
  ownership,
  players,
  servers,
} from "@svc/proto";
import { type Fixture, openFixture, type Replica } from "../testing/fixture.ts";

let fixture: Fixture;
let replicas: Replica[];
before(async () => {
  fixture = await openFixture();
  replicas = await Promise.all([fixture.start(), fixture.start()]);
  for (const name of ["alpha", "beta", "gamma"]) {
    await fixture.external.call(
      servers.create,
      { name, subdomain: name, image: "svc.local/nothing:1" },
      staff,
    );
    await sql("update lifecycle.servers set created_at = now() - interval '1 year' where name = $1", [name]);
  }
  await sql("update lifecycle.servers set owner_id = 'usr-1' where name in ('alpha', 'beta')");
  await sql("update lifecycle.servers set owner_id = 'usr-2' where name = 'gamma'");
});
after(() => fixture.close());

type Visit = InputOf<typeof contracts.reportVisits>["visits"][number];
const sql = (text: string, values: unknown[] = []) => fixture.database.admin(text, values);
const owner = account("usr-1");
const proxies = { last: 0 };
/** A new proxy process, whose visits are numbered by themselves. */
const openProxy = () => {
  proxies.last += 1;
  const proxy = `proxy-${proxies.last}`;
  return (...visits: Visit[]) => fixture.internal.call(contracts.reportVisits, { proxy, visits }, velocity);
};
const visit = (mc_uuid: string, about: Partial<Visit> = {}): Visit => ({
  ...{ mc_uuid, name: "alice", server: "alpha", number: 1, ms: 60_000 },
  ...about,
});
const read = (mc_uuid: string, as = owner) => fixture.external.call(contracts.read, { mc_uuid }, as);
const played = async (mc_uuid: string, as = staff) => {
  const { servers: rows } = await read(mc_uuid, as);
  return rows.map((row) => [row.server, row.played_seconds, row.visits]);
};
const share = (name: string, user_id: string, rights: MemberRight[]) =>
  sql("update lifecycle.servers set members = $2 where name = $1", [
    name,
    JSON.stringify([
      {
        id: `m-${user_id}`,
        user_id,
        rights,
        joined_at: "2026-01-01T00:00:00.000Z",
        invited_by: "usr-1",
        inviter_name: "one",
      },
    ]),
  ]);

describe("visits", () => {
  test("are counted once, by whichever replica and however often they are reported", async () => {
    const [report, uuid] = [openProxy(), randomUUID()];
    await Promise.all([report(visit(uuid)), report(visit(uuid)), report(visit(uuid))]);
    await report(visit(uuid, { ms: 75_000, ended_ms: 0 }));
    await Promise.all([
      report(visit(uuid, { ms: 75_000, ended_ms: 9 })),
      report(visit(uuid, { ms: 70_000 })),
    ]);
    assert.deepEqual(await played(uuid), [["alpha", 75, 1]]);
    await report(visit(uuid, { number: 3, server: "beta", ms: 5_000 }), visit(uuid, { number: 2, ms: 0 }));
    assert.deepEqual((await played(uuid)).sort(), [
      ["alpha", 75, 2],
      ["beta", 5, 1],
    ]);
  });

  test("of a proxy that was killed end at its last report, and those of its successor are others", async () => {
    const [killed, next, uuid] = [openProxy(), openProxy(), randomUUID()];
    await killed(visit(uuid, { ms: 60_000 }));
    await sql(
      "update lifecycle.known_players set first_seen = first_seen - interval '1 day', last_seen = last_seen - interval '1 day' where mc_uuid = $1",
      [uuid],
    );
    await next(visit(uuid, { ms: 3_000 }));
    assert.deepEqual(await played(uuid), [["alpha", 63, 2]]);
  });

  test("that lifecycle heard nothing of for an hour are counted when it is back, as the proxy measured", async () => {
    const [report, uuid] = [openProxy(), randomUUID()];
    await report(visit(uuid, { ms: 1_000 }));
    await sql(
      "update lifecycle.known_players set first_seen = first_seen - interval '1 hour', last_seen = last_seen - interval '1 hour' where mc_uuid = $1",
      [uuid],
    );
    await report(visit(uuid, { ms: 3_601_000 }));
    assert.deepEqual(await played(uuid), [["alpha", 3_601, 1]]);
  });

  test("whose report is broken off in its transaction are counted once when it comes again", async () => {
    const [report, uuid] = [openProxy(), randomUUID()];
    await report(visit(uuid));
    await sql(
      "create function lifecycle.cut() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$",
    );
    await sql("create trigger cut after update on lifecycle.known_players execute function lifecycle.cut()");
    assert.notEqual(await faultOf(report(visit(uuid, { ms: 90_000 }))), "none");
    await sql("drop trigger cut on lifecycle.known_players");
    assert.deepEqual(await played(uuid), [["alpha", 60, 1]]);
    await report(visit(uuid, { ms: 90_000 }));
    assert.deepEqual(await played(uuid), [["alpha", 90, 1]]);
  });

  test("survive the end of the replica that leads", async () => {
    const [report, uuid] = [openProxy(), randomUUID()];
    await report(visit(uuid));
    await replicas.shift()?.stop();
    await report(visit(uuid, { ms: 61_000 }));
    replicas.push(await fixture.start());
    await report(visit(uuid, { ms: 62_000 }));
    assert.deepEqual(await played(uuid), [["alpha", 62, 1]]);
  });

  test("on the gate, the lobby and servers that are gone are not kept", async () => {
    const [report, uuid] = [openProxy(), randomUUID()];
    await report(visit(uuid, { server: "lobby" }), visit(uuid, { number: 2, server: "nobody-here" }));
    assert.equal(await faultOf(read(uuid, staff)), "known_player_not_found");
  });

  test("of before a claim are not the new owner's, and go with a release", async () => {
    const [report, uuid] = [openProxy(), randomUUID()];
    await report(visit(uuid, { server: "gamma", ms: 3_600_000 }));
    await sql("delete from lifecycle.known_players where server_name = 'gamma'");
    await sql("update lifecycle.servers set claimed_at = now() - interval '10 seconds' where name = 'gamma'");
    await report(visit(uuid, { server: "gamma", ms: 3_600_500 }));
    const [row] = await played(uuid);
    assert.ok(row && Number(row[1]) >= 9 && Number(row[1]) <= 60, String(row));
  });

  test("and notes go when the owner's account ends", async () => {
    const [report, uuid] = [openProxy(), randomUUID()];
    const about = { name: "delta", subdomain: "delta", image: "svc.local/nothing:1" };
    await fixture.external.call(servers.create, about, staff);
    await sql(
      "update lifecycle.servers set created_at = now() - interval '1 year', owner_id = 'usr-7' where name = 'delta'",
    );
    await report(visit(uuid, { server: "delta" }), visit(uuid, { number: 2 }));
    const note = { name: "delta", mc_uuid: uuid, text: "Mine." };
    await fixture.external.call(contracts.addNote, note, account("usr-7"));
    const { released } = await fixture.identity.call(ownership.releaseAccount, { user_id: "usr-7" });
    assert.deepEqual(released, ["delta"]);
    const { servers: rows, notes } = await read(uuid, staff);
    assert.deepEqual([rows.map(({ server }) => server), notes], [["alpha"], []]);
  });

  test("that are none are refused", async () => {
    const uuid = randomUUID();
    const wrong: Partial<Record<keyof Visit, unknown>>[] = [
      { ms: -1 },
      { ms: 1.5 },
      { number: 0 },
      { mc_uuid: "x" },
      { name: "no name" },
      { server: "" },
      { ended_ms: -1 },
    ];
    for (const change of wrong)
      assert.equal(await faultOf(openProxy()(visit(uuid, change as Partial<Visit>))), "bad_request");
  });
});

describe("rights", () => {
  const uuid = randomUUID();
  before(async () => {
    const report = openProxy();
    await report(
      visit(uuid, { name: "bob" }),
      visit(uuid, { name: "bob", number: 2, server: "beta" }),
      visit(uuid, { name: "bob", number: 3, server: "gamma" }),
    );
    await share("beta", "usr-3", ["players"]);
    await share("alpha", "usr-4", ["see", "console.read", "command", "files.read"]);
  });
  const matrix: [who: string, as: () => typeof owner, sees: string[]][] = [
    ["the owner sees the own servers", () => owner, ["alpha", "beta"]],
    ["another owner sees the other ones", () => account("usr-2"), ["gamma"]],
    ["a member with the right sees that server", () => account("usr-3"), ["beta"]],
    ["a member without the right sees none", () => account("usr-4"), []],
    ["a stranger sees none", () => account("usr-9"), []],
    ["staff see all", () => staff, ["alpha", "beta", "gamma"]],
    [
      "a token sees its servers",
      () => tokenOf("usr-1", { rights: ["players"], servers: ["beta"] }),
      ["beta"],
    ],
    ["a token without the right sees none", () => tokenOf("usr-1", { rights: ["see"] }), []],
  ];
  for (const [fact, as, sees] of matrix) {
    test(fact, async () => {
      const list = (about: object = {}) =>
        fixture.external.call(
          contracts.list,
          { text: "BO", sort: "last_seen", limit: 20, offset: 0, ...about },
          as(),
        );
      const { players: found, total } = await list();
      assert.deepEqual(
        found.map(({ mc_uuid, servers: count }) => [mc_uuid, count]),
        sees.length === 0 ? [] : [[uuid, sees.length]],
      );
      assert.equal(total, Math.min(1, sees.length));
      if (sees.length === 0) assert.equal(await faultOf(read(uuid, as())), "known_player_not_found");
      else assert.deepEqual((await read(uuid, as())).servers.map(({ server }) => server).sort(), sees);
      for (const server of ["alpha", "beta", "gamma"]) {
        const allowed = sees.includes(server);
        assert.equal(await faultOf(list({ server })), allowed ? "none" : "forbidden", server);
        const note = { name: server, mc_uuid: uuid, text: "was here" };
        const adding = fixture.external.call(contracts.addNote, note, as());
        assert.equal(await faultOf(adding), allowed ? "none" : "forbidden", server);
      }
      const every = ["alpha", "beta", "gamma"];
      if (sees.length === 0) return;
      const changing = { mc_uuid: uuid, action: "ban" as const, servers: [...every, "nobody-here"] };
      const { results, player } = await fixture.external.call(contracts.changeAccess, changing, as());
      assert.equal(player, "bob");
      // No server runs here, so that a right shows as the refusal that comes after it.
      assert.deepEqual(
        results.map(({ server, error }) => [server, error?.code]),
        [
          ...every.map((server) => [server, sees.includes(server) ? "not_running" : "forbidden"]),
          ["nobody-here", "not_found"],
        ],
      );
      const { servers: states } = await fixture.external.call(contracts.readAccess, { mc_uuid: uuid }, as());
      assert.deepEqual(states, []);
    });
  }
});

describe("notes", () => {
  const uuid = randomUUID();
  const add = (text: string, mc_uuid = uuid) =>
    fixture.external.call(contracts.addNote, { name: "alpha", mc_uuid, text }, owner);
  const remove = (id: string) =>
    fixture.external.call(contracts.removeNote, { name: "alpha", mc_uuid: uuid, id }, owner);

  test("have an author and a time, end with their player, and are audited without their text", async () => {
    await openProxy()(visit(uuid, { name: "carol" }));
    const note = await add("  Griefed the spawn.\nApologised. ");
    assert.deepEqual([note.text, note.author], ["Griefed the spawn.\nApologised.", "usr-1"]);
    assert.deepEqual((await read(uuid)).notes, [note]);
    await remove(note.id);
    assert.equal(await faultOf(remove(note.id)), "note_not_found");
    const audits = (await fixture.audits()).filter(({ action }) => action.startsWith("player.note"));
    const mine = audits.filter(({ payload }) => payload?.["mc_uuid"] === uuid);
    assert.deepEqual(
      mine.map(({ action, payload }) => [action, payload]),
      ["player.note-add", "player.note-remove"].map((action) => [action, { mc_uuid: uuid, id: note.id }]),
    );
  });

  test("are limited, also when many come at once", async () => {
    const all = await Promise.all(Array.from({ length: 25 }, (_, index) => faultOf(add(`note ${index}`))));
    assert.equal(all.filter((fault) => fault === "none").length, 20);
    assert.equal(all.filter((fault) => fault === "note_limit").length, 5);
  });

  test("that are none are refused, and so are those about players whom the server does not know", async () => {
    for (const text of ["", "  ", "x".repeat(501), "a\u0000b", "a\u202eb"])
      assert.equal(await faultOf(add(text)), "bad_request", JSON.stringify(text));
    assert.equal(await faultOf(add("hello", randomUUID())), "known_player_not_found");
  });
});

describe("erasing", () => {
  const identity = () => fixture.identity;
  const erase = (mc_uuid: string) => identity().call(contracts.eraseData, { mc_uuid }, owner);
  const data = (mc_uuid: string) => identity().call(contracts.readData, { mc_uuid });

  test("takes what is kept out of everybody's view, for good, and is audited", async () => {
    const [report, uuid] = [openProxy(), randomUUID()];
    const joined = { name: "alpha", mc_uuid: uuid, player_name: "dave" };
    await fixture.internal.call(servers.reportJoin, joined, velocity);
    await report(visit(uuid, { name: "dave", ms: 3_600_000 }));
    await fixture.external.call(contracts.addNote, { name: "alpha", mc_uuid: uuid, text: "Nice." }, owner);
    const before = await data(uuid);
    assert.deepEqual(
      [before.servers.length, before.notes.map(({ text }) => text), before.name?.name, before.kept_days],
      [1, ["Nice."], "dave", 365],
    );
    assert.deepEqual(
      before.wake_rights.map(({ server, can_wake }) => [server, can_wake]),
      [["alpha", true]],
    );
    assert.deepEqual(await erase(uuid), { servers: 1, notes: 1 });
    assert.equal(await faultOf(read(uuid)), "known_player_not_found");

    // Reports from before, late or repeated, bring nothing back; what is played since is counted.
    await report(visit(uuid, { name: "dave", ms: 3_600_000, ended_ms: 60_000 }));
    await openProxy()(visit(uuid, { name: "dave", ms: 100_000, ended_ms: 10_000 }));
    await report(
      visit(uuid, { name: "dave", ms: 3_600_000 }),
      visit(uuid, { ms: 3_599_000, server: "beta" }),
    );
    assert.equal(await faultOf(read(uuid)), "known_player_not_found");
    await sql(
      "update lifecycle.player_erasures set erased_at = erased_at - interval '5 seconds' where mc_uuid = $1",
      [uuid],
    );
    await report(visit(uuid, { name: "dave", number: 2, ms: 3_605_000 }));
    const [row] = await played(uuid);
    assert.ok(row && Number(row[1]) >= 5 && Number(row[1]) < 60, String(row));
    const kept = await data(uuid);
    assert.deepEqual([kept.notes, kept.name, kept.wake_rights.length], [[], undefined, 1]);
    assert.ok(kept.erased_at);
    const audits = (await fixture.audits()).filter(({ action }) => action === "player.erase-data");
    assert.deepEqual(
      audits.map(({ payload }) => payload),
      [{ mc_uuid: uuid, servers: 1, notes: 1 }],
    );
  });

  test("holds while reports, notes and other erasures come at the same time", async () => {
    const uuid = randomUUID();
    const reports = Array.from({ length: 4 }, openProxy);
    const started = Date.now();
    let erasedAt = 0;
    const load = reports.map(async (report, at) => {
      for (let number = 1; number <= 30; number++) {
        await report(visit(uuid, { number, ms: 600_000 + number, server: at % 2 ? "alpha" : "beta" }));
        const note = { name: "alpha", mc_uuid: uuid, text: "under load" };
        await faultOf(fixture.external.call(contracts.addNote, note, owner));
      }
    });
    const erasing = (async () => {
      for (let times = 0; times < 5; times++) await erase(uuid);
      erasedAt = Date.now();
    })();
    await Promise.all([...load, erasing]);
    assert.ok(erasedAt >= started);
    const rows = await sql(
      "select k.first_seen >= e.erased_at as later, k.played_ms <= extract(epoch from clock_timestamp() - e.erased_at) * 1000 as possible from lifecycle.known_players k join lifecycle.player_erasures e using (mc_uuid) where mc_uuid = $1",
      [uuid],
    );
    for (const row of rows) assert.deepEqual(row, { later: true, possible: true });
    await erase(uuid);
    assert.equal(await faultOf(read(uuid)), "known_player_not_found");
  });

  test("that is broken off leaves all or nothing", async () => {
    const uuid = randomUUID();
    await openProxy()(visit(uuid));
    await sql(
      "create function lifecycle.break_off() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$",
    );
    await sql(
      "create trigger break_off after delete on lifecycle.known_players execute function lifecycle.break_off()",
    );
    assert.notEqual(await faultOf(erase(uuid)), "none");
    await sql("drop trigger break_off on lifecycle.known_players");
    const kept = await data(uuid);
    assert.deepEqual([kept.servers.length, kept.erased_at], [1, undefined]);
    assert.deepEqual(await erase(uuid), { servers: 1, notes: 0 });
  });
});

test("a server that is online for a player says so", async () => {
  const uuid = randomUUID();
  await openProxy()(visit(uuid, { name: "erin" }));
  const here = { mc_uuid: uuid, name: "erin", session: "0123456789abcdef", server: "alpha" };
  await fixture.internal.call(players.reportPlayers, { proxy: "one", players: [here] }, velocity);
  assert.equal((await read(uuid)).servers[0]?.online, true);
  await fixture.internal.call(players.reportPlayers, { proxy: "one", players: [] }, velocity);
  assert.equal((await read(uuid)).servers[0]?.online, false);
});
