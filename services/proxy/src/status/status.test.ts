import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { Connection } from "@svc/minecraft";
import { type Fixture, runningAt, serverInfo, startFixture } from "../testing/fixture.ts";
import { text, varint } from "../testing/raw-player.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
const icon = "data:image/png;base64,iVBORw0KGgo=";
const sample = [{ name: "alice", id: "069a79f4-44e9-4726-a5be-fca90e38aaf5" }];

type Entry = {
  description: { text: string };
  players: { online: number; max: number; sample: unknown };
  favicon?: string;
};

async function entryOf({ proxy }: Fixture, protocol = 769): Promise<Entry> {
  const connection = new Connection(connect(proxy.port, "127.0.0.1"));
  connection.send(0, varint(protocol), text(host), Buffer.of(0x63, 0xdd, 1));
  connection.send(0);
  const { reader } = await connection.next();
  connection.destroy();
  return JSON.parse(reader.string()) as Entry;
}

test("a running server shows its own text, count, players and icon, cached for a moment", limit, async () => {
  await using fixture = await startFixture(
    {},
    {
      prepare: ({ service, survival }) => {
        survival.says.status = { description: "", playersOnline: 7, playersMax: 30, sample, favicon: icon };
        const motd = "§6Come in";
        service.servers.set("survival", { ...runningAt("survival", survival), playersOnline: 0, motd });
      },
    },
  );
  for (const protocol of [769, 769, 47, 5_000, 1_073_742_162]) {
    const { description, players, favicon } = await entryOf(fixture, protocol);
    assert.deepEqual(description, { text: "§6Come in" });
    assert.deepEqual([players, favicon], [{ online: 7, max: 30, sample }, icon]);
  }
  // Once as 1.21.4, and once for all whose version we do not speak.
  assert.equal(fixture.survival.says.asked, 2);
});

test("the count is requested again once it is too old", limit, async () => {
  await using fixture = await startFixture(
    { SVC_PROXY_SERVER_LOOK_MS: "1" },
    {
      prepare: ({ service, survival }) => service.servers.set("survival", runningAt("survival", survival)),
    },
  );
  for (const playersOnline of [1, 2, 3]) {
    fixture.survival.says.status = { description: "", playersOnline, playersMax: 5 };
    // The clock has gone on by more than a millisecond: two connections were made meanwhile.
    let { players } = await entryOf(fixture);
    while (players.online !== playersOnline) ({ players } = await entryOf(fixture));
  }
});

test("a stopped server shows the text of its resource, else ours, and is not asked", limit, async () => {
  await using fixture = await startFixture(
    {},
    {
      prepare: ({ service }) => service.servers.set("survival", serverInfo("survival", { motd: "Zzz" })),
    },
  );
  assert.equal((await entryOf(fixture)).description.text, "Zzz");
  fixture.service.servers.set("survival", serverInfo("survival"));
  await fixture.restart();
  assert.equal((await entryOf(fixture)).description.text, "survival is asleep. Join to wake it.");
  assert.equal(fixture.survival.says.asked, 0);
});

test("a server that does not answer the ping is shown from the server list", limit, async () => {
  const nowhere = { address: "127.0.0.1:1" } as Parameters<typeof runningAt>[1];
  await using fixture = await startFixture(
    {},
    {
      prepare: ({ service }) =>
        service.servers.set("survival", { ...runningAt("survival", nowhere), playersOnline: 4 }),
    },
  );
  assert.deepEqual((await entryOf(fixture)).players, { online: 4, max: 20, sample: [] });
});
