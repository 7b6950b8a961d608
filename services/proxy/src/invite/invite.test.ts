import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { runningAt, startFixture } from "../testing/fixture.ts";

const limit = { timeout: 60_000 * patience };

/** Alice on survival, Bob in the lobby, Carol at the gate. */
async function stage() {
  const settings = { SVC_PROXY_ACTION_BURST: "1000", SVC_PROXY_INVITE_COOLDOWN_MS: "60000" };
  const fixture = await startFixture(settings, {
    prepare: ({ service, survival }) => service.servers.set("survival", runningAt("survival", survival)),
  });
  const accounts = { alice: fixture.account("alice"), bob: fixture.account("bob") };
  const alice = await fixture.passRaw(accounts.alice, "survival.play.example");
  const bob = await fixture.passRaw(accounts.bob, "play.example");
  await Promise.all([fixture.survival.player("alice"), fixture.lobby.player("bob")]);
  const cardOf = async ({ hears }: typeof bob, from: string) => {
    const line = await hears(new RegExp(`^${from} invites you to survival`));
    return /accept (\w+)$/.exec(line)?.[1] ?? "";
  };
  return { fixture, accounts, alice, bob, cardOf };
}

test(
  "an invitation brings its guest to where the inviter is, once, and the join is reported as the guest's",
  limit,
  async () => {
    const { fixture, accounts, alice, bob, cardOf } = await stage();
    await using _ = fixture;
    await fixture.raw(fixture.account("carol"), "play.example");
    await fixture.gate.player("carol");
    for (const [command, words] of [
      ["invite nobody", /nobody is not here/],
      ["invite carol", /carol is not here/],
      ["invite alice", /You are here already/],
    ] as const) {
      alice.command(command);
      await alice.hears(words);
    }
    alice.command("invite BOB");
    await alice.hears(/bob was invited to survival\. By accepting they may also start it later\./);
    const card = await cardOf(bob, "alice");
    alice.command("invite bob");
    await alice.hears(/Too fast. Try again in \d+ s/);
    bob.command("invite accept 000000000000");
    await bob.hears(/invitation has expired/);
    bob.command(`invite accept ${card}`);
    await fixture.survival.player("bob");
    const report = `POST /api/v1/internal/servers/survival/join-event {"mc_uuid":"${accounts.bob.uuid}","player_name":"bob"}`;
    await fixture.service.until(() => fixture.service.calls.includes(report));
    assert(!fixture.service.calls.some((call) => call.includes("/wake")));
    bob.command(`invite accept ${card}`);
    await bob.until(() => bob.chat.filter((line) => /invitation has expired/.test(line)).length === 2);
  },
);

test("only the newest invitation of a guest lives, and none outlives the inviter's stay", limit, async () => {
  const { fixture, alice, bob, cardOf } = await stage();
  await using _ = fixture;
  const dave = await fixture.passRaw(fixture.account("dave"), "survival.play.example");
  await fixture.survival.player("dave");
  alice.command("invite bob");
  const first = await cardOf(bob, "alice");
  dave.command("invite bob");
  const second = await cardOf(bob, "dave");
  bob.command(`invite accept ${first}`);
  await bob.hears(/invitation has expired/);
  dave.command("felis lobby");
  await fixture.lobby.player("dave");
  bob.command(`invite accept ${second}`);
  await bob.until(() => bob.chat.filter((line) => /invitation has expired/.test(line)).length === 2);
  assert.equal(fixture.survival.players.has("bob"), false);
});

test(
  "players of another proxy are counted, invite and are invited, and take over their session",
  limit,
  async () => {
    const { fixture, accounts, alice, bob, cardOf } = await stage();
    await using _ = fixture;
    const { service } = fixture;
    const erin = { mc_uuid: randomUUID(), name: "erin", server: "survival" };
    service.online = [{ ...erin, proxy: "other", since: new Date().toISOString() }];
    alice.command("glist");
    await alice.hears(/^1 players online: survival 1$/);

    const invited: unknown[] = [];
    service.invite = (input) => {
      invited.push(input["mc_uuid"]);
      return { status: 201, body: { id: input["id"] } };
    };
    alice.command("invite ERIN");
    await alice.hears(/^erin was invited to survival\./);
    assert.deepEqual(invited, [erin.mc_uuid]);

    const id = "0123456789abcdef";
    const from = { from_uuid: erin.mc_uuid, from_name: erin.name };
    const invitations = [{ id, ...from, to_uuid: accounts.bob.uuid, server: "survival" }];
    service.presence = () => ({ elsewhere: [], invitations: invitations.splice(0) });
    assert.equal(await cardOf(bob, "erin"), id);
    bob.command(`invite accept ${id}`);
    await fixture.survival.player("bob");

    service.presence = (input) => {
      const { players } = input as unknown as { players: { name: string; session: string }[] };
      const left = players.filter(({ name }) => name === "bob");
      return { elsewhere: left.map(({ session }) => session), invitations: [] };
    };
    assert.match(await bob.isKicked(), /from somewhere else/);
    assert.equal(alice.state.isClosed, false);
  },
);
