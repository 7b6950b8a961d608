import assert from "node:assert/strict";
import { test } from "node:test";
import type { players } from "@svc/proto";
import { type Fixture, runningAt, startFixture } from "../testing/fixture.ts";

const limit = { timeout: 20_000 };
const host = "survival.play.example";
const often = { SVC_PROXY_PRESENCE_MS: "30", SVC_PROXY_ONLINE_CACHE_MS: "1" };
const options = {
  prepare: ({ service, survival }: Pick<Fixture, "service" | "survival">) =>
    void service.servers.set("survival", runningAt("survival", survival)),
};
type Row = { mc_uuid: string; name: string; session: string; server?: string };
type Owner = { rows: Map<string, Row[]>; cards: players.Invitation[] };

/** Answers reports as the owner does, but for when sessions began: the order of their first reports. */
function serve(fixture: Fixture): Owner {
  const owner: Owner = { rows: new Map(), cards: [] };
  const order: string[] = [];
  const rankOf = ({ session }: Row) => {
    if (!order.includes(session)) order.push(session);
    return order.indexOf(session);
  };
  fixture.service.presence = (input) => {
    const [proxy = "", mine] = [input["proxy"], input["players"] as unknown as Row[]];
    for (const row of mine) rankOf(row);
    owner.rows.set(proxy, mine);
    const others = [...owner.rows].filter(([name]) => name !== proxy).flatMap(([, rows]) => rows);
    const isOver = (row: Row) =>
      others.some((other) => other.mc_uuid === row.mc_uuid && rankOf(other) > rankOf(row));
    const cards = owner.cards.filter(({ to_uuid }) => mine.some(({ mc_uuid }) => mc_uuid === to_uuid));
    owner.cards = owner.cards.filter((card) => !cards.includes(card));
    fixture.service.online = [...owner.rows].flatMap(([name, rows]) =>
      rows.map(({ session: _, ...row }) => ({ ...row, proxy: name, since: "2026-01-01T00:00:00.000Z" })),
    );
    return { elsewhere: mine.filter(isOver).map(({ session }) => session), invitations: cards };
  };
  fixture.service.invite = ({
    mc_uuid: to_uuid = "",
    id = "",
    from_uuid = "",
    from_name = "",
    server = "",
  }) => {
    owner.cards.push({ id, from_uuid, from_name, server, to_uuid });
    return { status: 201, body: { id } };
  };
  return owner;
}
const isListed = (fixture: Fixture, name: string, server: string) =>
  fixture.service.until(() =>
    fixture.service.online.some((row) => row.name === name && row.server === server),
  );

test("a second login at another proxy ends the first one, as it does at the same", limit, async () => {
  await using fixture = await startFixture(often, options);
  serve(fixture);
  const other = await fixture.startAnother();
  const alice = fixture.account("alice");
  const first = await fixture.passRaw(alice, "play.example");
  await fixture.lobby.player("alice");
  await isListed(fixture, "alice", "lobby");
  const second = await fixture.raw(alice, host, { port: other.port });
  assert.match(await first.isKicked(), /joined from somewhere else/);
  assert.equal(second.state.isClosed, false);
});

test("an invitation reaches a player of another proxy and leads to where the inviter is", limit, async () => {
  await using fixture = await startFixture(often, options);
  serve(fixture);
  const other = await fixture.startAnother();
  const alice = await fixture.passRaw(fixture.account("alice"), host);
  await fixture.survival.player("alice");
  const bob = await fixture.passRaw(fixture.account("bob"), "play.example", { port: other.port });
  await fixture.lobby.player("bob");
  await isListed(fixture, "alice", "survival");
  await isListed(fixture, "bob", "lobby");

  alice.command("invite nobody");
  await alice.hears(/nobody is not here/);
  alice.command("invite BOB");
  await alice.hears(/bob was invited to survival/);
  const card = await bob.hears(/alice invites you to survival/);
  alice.command("invite bob");
  await alice.hears(/Too fast/);
  bob.command(/invite accept \w+/.exec(card)?.[0] ?? "");
  await fixture.survival.player("bob");
});

test("players read how many are on each server over all proxies", limit, async () => {
  await using fixture = await startFixture(often, options);
  serve(fixture);
  const other = await fixture.startAnother();
  await fixture.passRaw(fixture.account("alice"), host);
  const bob = await fixture.passRaw(fixture.account("bob"), "play.example", { port: other.port });
  await isListed(fixture, "alice", "survival");
  await isListed(fixture, "bob", "lobby");
  bob.command("glist");
  assert.equal(await bob.hears(/players online/), "2 players online: lobby 1, survival 1");
});
