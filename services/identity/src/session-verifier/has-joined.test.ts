import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:net";
import { after, afterEach, before, describe, test } from "node:test";
import { links, type Principal, sessionVerifier } from "@svc/proto";
import { linkPlayer } from "../link/store.ts";
import { type Fixture, startFixture } from "../testing/fixture.ts";
import { type Player, type SessionServer, sendJson, startSessionServer } from "../testing/session-server.ts";
import { thirdPartyId, toDashed } from "./profile.ts";

const velocity: Principal = { kind: "caller", caller: "velocity" };
const newPlayer = (name: string, about: Partial<Player> = {}): Player => ({
  id: randomUUID().replaceAll("-", ""),
  name,
  accessToken: randomBytes(8).toString("hex"),
  ...about,
});
const newServerId = () => `-${randomBytes(19).toString("hex")}`;

describe("hasJoined", () => {
  let fixture: Fixture;
  let mojang: SessionServer;
  let ely: SessionServer;
  let other: SessionServer;
  before(async () => {
    [mojang, ely, other] = await Promise.all([
      startSessionServer(),
      startSessionServer(),
      startSessionServer(),
    ]);
    fixture = await startFixture({
      set: [
        `identity.mojang_session_url=${mojang.hasJoinedUrl}`,
        `identity.mojang_profile_url=${mojang.profileUrl}`,
        "identity.session_source_timeout=150ms",
      ],
      authSources: [
        { tag: "ely", prefix: "EL", url: `${ely.hasJoinedUrl}?api=2` },
        { tag: "other", prefix: "OT", url: other.hasJoinedUrl },
      ],
    });
  });
  after(async () => {
    await fixture.stop();
    await Promise.all([mojang, ely, other].map((one) => one.stop()));
  });
  afterEach(() => {
    for (const one of [mojang, ely, other]) {
      one.misbehave = undefined;
      one.misbehaveLookup = undefined;
      one.asked.length = 0;
    }
  });

  type Query = { username?: string; serverId?: string; ip?: string; bars?: string };
  const ask = (query: Query) => fixture.internal.call(sessionVerifier.hasJoined, query);
  /** A client that joined at a server and now connects to the proxy. */
  const connecting = async (server: SessionServer, player: Player): Promise<Query> => {
    const serverId = newServerId();
    server.add(player);
    assert.equal(await server.join(player, serverId), 204);
    return { username: player.name, serverId };
  };
  const askedCounts = () => [mojang, ely, other].map((one) => one.asked.length);

  test("a player of the identity source keeps UUID, name and properties, and no other source is asked", async () => {
    const properties = [{ name: "textures", value: "abc", signature: "s" }];
    const player = newPlayer("Steve", { properties });
    const query = await connecting(mojang, player);
    assert.deepEqual(await ask(query), { id: player.id, name: "Steve", properties });
    assert.deepEqual(askedCounts(), [1, 0, 0]);
  });

  test("the request is forwarded unchanged, with the address and the query of the configured URL", async () => {
    const player = newPlayer("Handed_on");
    const query = await connecting(ely, player);
    await ask({ ...query, ip: "192.0.2.1" });
    const url = ely.asked[0];
    assert.deepEqual(Object.fromEntries(url?.searchParams ?? []), {
      api: "2",
      username: "Handed_on",
      serverId: query.serverId,
      ip: "192.0.2.1",
    });
  });

  test("a player who did not join, or joined another server, is rejected with null", async () => {
    const player = newPlayer("Alex");
    const query = await connecting(mojang, player);
    assert.equal(await ask({ ...query, serverId: newServerId() }), null);
    assert.equal(await ask({ username: "Nobody_here", serverId: newServerId() }), null);
  });

  test("a token of another player is rejected", async () => {
    const player = newPlayer("Owned");
    mojang.add(player);
    const serverId = newServerId();
    assert.equal(await mojang.join({ ...player, accessToken: "stolen" }, serverId), 403);
    assert.equal(await ask({ username: "Owned", serverId }), null);
  });

  test("a third party's player gets a UUID of version 3 in the namespace of the source", async () => {
    const player = newPlayer("Elly");
    const answer = await ask(await connecting(ely, player));
    assert.deepEqual(answer, { id: thirdPartyId("ely", player.id), name: "Elly" });
    assert.equal(answer?.id[12], "3");
    const sameId = await ask(await connecting(other, { ...newPlayer("Elly_two"), id: player.id }));
    assert.notEqual(sameId?.id, answer?.id);
  });

  test("a third party cannot give its player the UUID of a player of the identity source", async () => {
    const victim = newPlayer("Victim");
    mojang.add(victim);
    const query = await connecting(ely, newPlayer("Villain", { id: victim.id }));
    const answer = await ask(query);
    assert.notEqual(answer?.id, victim.id);
    assert.equal(answer?.id, thirdPartyId("ely", victim.id));
  });

  test("a name that is registered at the identity source gets the prefix of the source, in any case", async () => {
    mojang.add(newPlayer("Notch"));
    mojang.add(newPlayer("Sixteen_letters_"));
    assert.equal((await ask(await connecting(ely, newPlayer("Notch"))))?.name, "EL_Notch");
    assert.equal((await ask(await connecting(other, newPlayer("nOTCH"))))?.name, "OT_nOTCH");
    const long = await ask(await connecting(other, newPlayer("sixteen_letters_")));
    assert.equal(long?.name, "OT_sixteen_lette");
  });

  test("a name that cannot be looked up counts as registered", async () => {
    const query = await connecting(ely, newPlayer("Unsure"));
    const answers: SessionServer["misbehaveLookup"][] = [
      (_request, response) => void response.writeHead(500).end(),
      (_request, response) => void response.writeHead(204).end(),
      (_request, response) => void response.writeHead(302, { location: mojang.profileUrl }).end(),
      (request) => void request.socket.destroy(),
      () => {},
    ];
    for (const answer of answers) {
      mojang.misbehaveLookup = answer;
      assert.equal((await ask(query))?.name, "EL_Unsure");
    }
    mojang.misbehaveLookup = undefined;
    assert.equal((await ask(query))?.name, "Unsure");
  });

  test("a third party's player with an illegal name is rejected, and no other source is asked", async () => {
    for (const name of ["Nоtch", "ab", "seventeen_letters", "a b c", "ｎotch", "Ste§ve", "x\u202ey_z"]) {
      const query = await connecting(ely, newPlayer(name));
      other.asked.length = 0;
      assert.equal(await ask(query), null, name);
      assert.equal(other.asked.length, 0);
    }
  });

  test("a player whose UUID from the identity source does not parse is rejected", async () => {
    const query = await connecting(mojang, newPlayer("Broken_id", { id: "not-a-uuid" }));
    assert.equal(await ask(query), null);
  });

  test("a request without its parameters, or with one over 64 bytes, is null and asks no source", async () => {
    const bad: Query[] = [
      {},
      { username: "Steve" },
      { serverId: "x" },
      { username: "", serverId: "x" },
      { username: "a".repeat(65), serverId: "x" },
      { username: "字".repeat(22), serverId: "x" },
      { username: "Steve", serverId: "x".repeat(65) },
      { username: "Steve", serverId: "x", ip: "1".repeat(65) },
    ];
    for (const query of bad) assert.equal(await ask(query), null, JSON.stringify(query));
    assert.deepEqual(askedCounts(), [0, 0, 0]);
  });

  const constant = newPlayer("Constance");
  const misbehaviours: Record<string, SessionServer["misbehave"]> = {
    "never answers": () => {},
    "sends the headers and then nothing": (_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("{");
    },
    "hangs up": (request) => void request.socket.destroy(),
    "closes the connection in the middle of the body": (request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("{", () => request.socket.destroy());
    },
    "answers 500": (_request, response) => void response.writeHead(500).end(),
    "answers 403": (_request, response) => void response.writeHead(403).end("{}"),
    "answers 404": (_request, response) => void response.writeHead(404).end(),
    "redirects temporarily": (_request, response) =>
      void response.writeHead(302, { location: other.hasJoinedUrl }).end(),
    "redirects permanently": (_request, response) =>
      void response.writeHead(308, { location: "http://169.254.169.254/latest/meta-data" }).end(),
    "answers 200 with an empty body": (_request, response) => void response.writeHead(200).end(),
    "answers 200 with HTML": (_request, response) => void response.writeHead(200).end("<html>"),
    "answers 200 without a name": (_request, response) => sendJson(response, { id: "x" }),
    "answers with more than 64 KiB": (_request, response) =>
      sendJson(response, { id: randomUUID(), name: "Big", properties: [{ value: "x".repeat(65_536) }] }),
    "answers with an endless body": (_request, response) => {
      response.writeHead(200);
      const write = (): void => void (response.write("x".repeat(10_000)) && setImmediate(write));
      response.on("drain", write);
      response.on("close", () => response.removeAllListeners("drain"));
      write();
    },
  };
  for (const [what, misbehave] of Object.entries(misbehaviours)) {
    test(`an identity source that ${what} has failed: 503 for a player unknown elsewhere, no effect on others`, async () => {
      mojang.misbehave = misbehave;
      await assert.rejects(ask({ username: "Stranger", serverId: newServerId() }), { fault: "unavailable" });
      assert.equal((await ask(await connecting(ely, constant)))?.id, thirdPartyId("ely", constant.id));
    });
  }

  test("a redirect is not followed", async () => {
    mojang.misbehave = (_request, response) =>
      void response.writeHead(302, { location: other.hasJoinedUrl }).end();
    ely.misbehave = mojang.misbehave;
    await assert.rejects(ask({ username: "Stranger", serverId: newServerId() }), { fault: "unavailable" });
    assert.deepEqual(askedCounts(), [1, 1, 1]);
    assert.equal(other.asked[0]?.searchParams.get("username"), "Stranger");
  });

  test("a profile of just under 64 KiB is accepted", async () => {
    const properties = [{ name: "textures", value: "x".repeat(65_000) }];
    const answer = await ask(await connecting(mojang, newPlayer("Big", { properties })));
    assert.deepEqual(answer?.properties, properties);
  });

  test("an unreachable source has failed; a player whom all reachable sources do not know is null", async () => {
    const port = await freePort();
    const alone = await startFixture({
      set: [`identity.mojang_session_url=${mojang.hasJoinedUrl}`],
      authSources: [{ tag: "gone", prefix: "GO", url: `http://127.0.0.1:${port}/hasJoined` }],
    });
    try {
      const stranger = { username: "Stranger", serverId: newServerId() };
      await assert.rejects(alone.internal.call(sessionVerifier.hasJoined, stranger), {
        fault: "unavailable",
      });
      const known = await connecting(mojang, newPlayer("Known"));
      assert.equal((await alone.internal.call(sessionVerifier.hasJoined, known))?.name, "Known");
      assert.equal(await ask(stranger), null);
    } finally {
      await alone.stop();
    }
  });

  test("a barred player is rejected, and one of the same name with another UUID is not", async () => {
    const squatter = newPlayer("Wanted");
    const query = await connecting(ely, squatter);
    const uuid = toDashed(thirdPartyId("ely", squatter.id));
    assert.equal((await ask(query))?.name, "Wanted");
    const input = { squatter_uuid: uuid, username: "Wanted" };
    await fixture.internal.call(links.reclaimName, input, { principal: velocity });
    assert.equal(await ask(query), null);
    await assert.rejects(ask({ ...query, bars: "told" }), { fault: "player_barred" });
    const rightful = await connecting(mojang, newPlayer("Wanted"));
    assert.equal((await ask(rightful))?.name, "Wanted");
  });

  test("when bars cannot be read, nobody is admitted and the response is an internal error", async () => {
    const query = await connecting(mojang, newPlayer("Unlucky"));
    await fixture.wire.cut();
    await assert.rejects(ask(query), { fault: "internal" });
    await fixture.wire.recover();
    assert.equal((await ask(query))?.name, "Unlucky");
  });

  test("a link by a bind code of a third party's player has that source", async () => {
    const player = newPlayer("Linked_elly");
    const profile = await ask(await connecting(ely, player));
    const mc_uuid = toDashed(profile?.id ?? "");
    const { code } = await fixture.internal.call(links.mintCode, { mc_uuid }, { principal: velocity });
    const bound = await fixture.gateway.call(links.bind, { code });
    assert.equal(bound.auth_source, "thirdparty");
    await fixture.store.db
      .transaction()
      .execute((trx) =>
        linkPlayer(trx, { userId: bound.user_id, mcUuid: mc_uuid, authSource: "mojang", now: fixture.now() }),
      );
  });

  test("responses and outcomes are counted", async () => {
    const before = await fixture.metric('svc_has_joined_total{answer="admitted"}');
    const source = 'svc_session_source_total{source="ely",outcome="profile"}';
    const outcomes = await fixture.metric(source);
    await ask(await connecting(ely, newPlayer("Counted")));
    assert.equal(await fixture.metric('svc_has_joined_total{answer="admitted"}'), before + 1);
    assert.equal(await fixture.metric(source), outcomes + 1);
  });
});

describe("a local source", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({
      set: ['identity.mojang_session_url=""', 'identity.mojang_profile_url=""'],
      authSources: [{ kind: "local", tag: "local" }],
    });
  });
  after(() => fixture.stop());
  const ask = (username: string, serverId = "local") =>
    fixture.internal.call(sessionVerifier.hasJoined, { username, serverId });

  test("is not asked about a login, only about names that a local proxy accepts without authentication", async () => {
    assert.equal(await ask("Steve", newServerId()), null);
  });

  test("accepts every name, and the same name in another case is the same player", async () => {
    const steve = await ask("Steve");
    assert.deepEqual(steve, { id: thirdPartyId("local", "steve"), name: "Steve" });
    assert.equal((await ask("STEVE"))?.id, steve?.id);
    assert.notEqual((await ask("Alex_1"))?.id, steve?.id);
  });

  test("rejects an illegal name", async () => {
    for (const name of ["ab", "a b c", "Nоtch", "x".repeat(17)]) assert.equal(await ask(name), null);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
