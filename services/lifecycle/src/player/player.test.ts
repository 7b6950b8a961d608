// Who plays where, on a real database and two replicas.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { faultOf, staff, velocity } from "@svc/mesh/testing";
import { players as contracts, type InputOf, imageChoices, servers } from "@svc/proto";
import { type Fixture, openFixture } from "../testing/fixture.ts";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await Promise.all([fixture.start(), fixture.start()]);
  const server = { name: "survival", subdomain: "survival", image: "svc.local/nothing:1" };
  await fixture.external.call(servers.create, server, staff);
});
after(() => fixture.close());

type Reported = InputOf<typeof contracts.reportPlayers>["players"][number];
const someone = (name: string, server?: string): Reported => ({
  mc_uuid: randomUUID(),
  name,
  session: randomUUID().replaceAll("-", "").slice(0, 16),
  ...(server !== undefined && { server }),
});
const report = (proxy: string, players: Reported[]) =>
  fixture.internal.call(contracts.reportPlayers, { proxy, players }, velocity);
const online = async () => {
  const { players } = await fixture.external.call(contracts.list, {}, staff);
  return players.map(({ name, server, proxy }) => [name, server, proxy]);
};
const sql = (text: string, values: unknown[] = []) => fixture.database.admin(text, values);
const quiet = { elsewhere: [], invitations: [] };

test("who plays where is listed over all proxies, by name, until a proxy falls silent", async () => {
  const [alice, bob, carol] = [someone("alice", "survival"), someone("Bob", "lobby"), someone("carol")];
  assert.deepEqual(await report("one", [carol, alice]), quiet);
  assert.deepEqual(await report("two", [bob]), quiet);
  const all = [
    ["alice", "survival", "one"],
    ["Bob", "lobby", "two"],
    ["carol", undefined, "one"],
  ];
  assert.deepEqual(await online(), all);
  assert.deepEqual((await fixture.internal.call(contracts.listForProxy, {}, velocity)).players.length, 3);
  const identity = await fixture.nats.connect("identity");
  assert.deepEqual(await identity.call(contracts.readName, { mc_uuid: carol.mc_uuid }), { name: "carol" });
  await identity.drain(500);

  await report("two", []);
  assert.deepEqual(
    (await online()).map(([name]) => name),
    ["alice", "carol"],
  );
  await sql("update lifecycle.proxy_players set seen_at = now() - interval '16 seconds'");
  assert.deepEqual(await online(), []);
  await sql("update lifecycle.proxy_players set seen_at = now() - interval '2 hours'");
  await report("two", []);
  const left = await sql("select proxy from lifecycle.proxy_players");
  assert.deepEqual(left, [{ proxy: "two" }]);
});

test("a second login at another proxy ends the first session and no other", async () => {
  const [first, bystander] = [someone("dave", "survival"), someone("erin")];
  await report("one", [first, bystander]);
  const second = { ...first, session: "00000000000000ff" };
  assert.deepEqual(await report("two", [second]), quiet);
  assert.deepEqual((await report("one", [first, bystander])).elsewhere, [first.session]);
  assert.deepEqual(await report("two", [second]), quiet);
  assert.deepEqual(await online(), [
    ["dave", "survival", "two"],
    ["erin", undefined, "one"],
  ]);
  await report("one", []);
  await report("two", []);
});

test("an invitation reaches the invited player's proxy once, and no player who is offline", async () => {
  const [host, guest] = [someone("frank", "survival"), someone("grace", "lobby")];
  await report("one", [host]);
  await report("two", [guest]);
  const card = { id: "0123456789ab", from_uuid: host.mc_uuid, from_name: "frank", server: "survival" };
  const invite = (mc_uuid: string, change: Partial<typeof card> = {}) =>
    fixture.internal.call(contracts.invite, { mc_uuid, ...card, ...change }, velocity);
  assert.deepEqual(await invite(guest.mc_uuid), { id: card.id });
  assert.deepEqual(await report("one", [host]), quiet);
  const { invitations } = await report("two", [guest]);
  assert.deepEqual(invitations, [{ ...card, to_uuid: guest.mc_uuid }]);
  assert.deepEqual(await report("two", [guest]), quiet);

  assert.equal(await faultOf(invite(randomUUID())), "not_found");
  assert.equal(await faultOf(invite(guest.mc_uuid, { server: "nobody-here" })), "not_found");
  assert.equal(await faultOf(invite(guest.mc_uuid, { server: "lobby" })), "bad_name");
  await invite(guest.mc_uuid);
  await sql("update lifecycle.player_invitations set expires_at = now() - interval '1 second'");
  assert.deepEqual(await report("two", [guest]), quiet);
  assert.deepEqual(await sql("select id from lifecycle.player_invitations"), []);
});

test("joins and leaves are published with the player's name", async () => {
  const { mc_uuid, name: player_name } = someone("heidi");
  const about = { name: "survival", mc_uuid, player_name };
  await fixture.internal.call(servers.reportJoin, about, velocity);
  await fixture.internal.call(contracts.reportLeave, { ...about, reason: "switched" }, velocity);
  await fixture.internal.call(servers.reportJoin, { name: "survival", mc_uuid }, velocity);
  const received = await sql(
    "select subject, body from lifecycle.outbox where subject like '%.player-%' order by id",
  );
  const events = received.map(({ subject, body }) => {
    const { at: _, ...data } = JSON.parse(String(body)) as Record<string, string>;
    return [String(subject).replace("svc.evt.lifecycle.server.", ""), data];
  });
  assert.deepEqual(events, [
    ["player-joined.survival", about],
    ["player-left.survival", { ...about, reason: "switched" }],
    ["player-joined.survival", { name: "survival", mc_uuid }],
  ]);
  const gone = { name: "nobody-here", mc_uuid };
  assert.equal(await faultOf(fixture.internal.call(contracts.reportLeave, gone, velocity)), "not_found");
});

test("a server without an image gets the version that most players of seven days had, each counted once", async () => {
  const { library, external, internal } = fixture;
  library.whitelist.push(
    "svc.local/demo-server:1.21.1",
    "svc.local/demo-server:java21",
    "svc.local/other:26.1",
  );
  library.labels.set("svc.local/demo-server:java21", "26.1");
  const came = (protocol: number, ...uuids: string[]) =>
    internal.call(
      imageChoices.reportVersions,
      { players: uuids.map((mc_uuid) => ({ mc_uuid, protocol })) },
      velocity,
    );
  const suggested = () => external.call(imageChoices.suggestImage, {}, staff);
  const create = async (name: string, image?: string) => {
    await external.call(servers.create, { name, subdomain: name, image }, staff);
    const { image: stored } = (await external.call(servers.viewStatus, { name }, staff)) as {
      image?: string;
    };
    return stored;
  };
  const [one, two, three, four] = Array.from({ length: 4 }, () => randomUUID()) as [
    string,
    string,
    string,
    string,
  ];
  assert.deepEqual(await suggested(), {
    ...{ image_ref: "svc.local/demo-server:1.21.4", version: "1.21.4", players: 0, of: 0 },
    versions: [],
  });

  // What arrives twice, at two replicas or in one report, counts once; what is said last counts.
  await Promise.all([came(767, one, two, one), came(767, two, one), came(767, two)]);
  await came(768, three, four);
  await came(767, three);
  assert.deepEqual(await suggested(), {
    ...{ image_ref: "svc.local/demo-server:1.21.1", version: "1.21-1.21.1", players: 3, of: 4 },
    versions: [
      {
        ...{ protocol: 767, version: "1.21-1.21.1", players: 3 },
        image_ref: "svc.local/demo-server:1.21.1",
      },
      { protocol: 768, version: "1.21.2-1.21.3", players: 1 },
    ],
  });
  assert.equal(await create("chosen"), "svc.local/demo-server:1.21.1");
  assert.equal(await create("named", "svc.local/nothing:1"), "svc.local/nothing:1");

  // A label says it where the tag does not; eight days later nobody remembers.
  await came(775, one, two, three);
  assert.equal(await create("labelled"), "svc.local/demo-server:java21");
  await sql("update lifecycle.player_versions set seen_on = seen_on - 7 where mc_uuid <> $1", [four]);
  assert.deepEqual((await suggested()).versions, [{ protocol: 768, version: "1.21.2-1.21.3", players: 1 }]);
  await came(767, one);
  const kept = await sql("select mc_uuid from lifecycle.player_versions");
  assert.deepEqual(new Set(kept.map(({ mc_uuid }) => mc_uuid)), new Set([one, four]));

  // An image that was chosen but can't be had gives way to the platform's own.
  const list = library.whitelist.splice(0);
  library.whitelist.push("svc.local/demo-server:1.21.4");
  library.lists = list;
  assert.equal(await create("refused"), "svc.local/demo-server:1.21.4");
  library.lists = undefined;
  library.whitelist.splice(0, 1, ...list);
  library.isAway = true;
  assert.equal(await faultOf(suggested()), "registry_unavailable");
  assert.equal(await faultOf(create("away")), "registry_unavailable");
  library.isAway = false;
});

test("versions that are none are refused with what is wrong", async () => {
  const tell = (players: unknown) =>
    fixture.internal.call(
      imageChoices.reportVersions,
      { players } as InputOf<typeof imageChoices.reportVersions>,
      velocity,
    );
  const mc_uuid = randomUUID();
  const wrong = [[{ mc_uuid, protocol: -1 }], [{ mc_uuid, protocol: 1.5 }], [{ mc_uuid, protocol: 2 ** 31 }]];
  for (const players of [...wrong, [{ mc_uuid: "x", protocol: 1 }], [{ mc_uuid }], "all"])
    assert.equal(await faultOf(tell(players)), "bad_request");
  assert.equal(await faultOf(tell([])), "none");
});
