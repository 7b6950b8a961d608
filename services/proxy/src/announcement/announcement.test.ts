// Players who hear of announcements, over sockets.

import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { type Fixture, runningAt, serverInfo, startFixture } from "../testing/fixture.ts";
import { refusal } from "../testing/service.ts";
import type { Announcement } from "./announcements.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
const minute = 60_000;
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * minute).toISOString();

function announce({ service }: Pick<Fixture, "service">, change: Partial<Announcement> = {}): void {
  service.announced.push({
    ...{ id: `ann-${service.announced.length}`, text: { en: "We move to new disks." }, severity: "warning" },
    ...{ start: inMinutes(-1), end: inMinutes(60), maintenance: false, public: false },
    ...change,
  });
}
const sleeps = ({ service }: Pick<Fixture, "service">) =>
  void service.servers.set("survival", serverInfo("survival"));

test(
  "a wake that maintenance refuses tells the player why, until when, and nobody waits",
  limit,
  async () => {
    await using fixture = await startFixture({}, { prepare: sleeps });
    announce(fixture, { maintenance: true });
    fixture.service.wake = () => refusal("maintenance_window");
    const listed = () =>
      fixture.service.calls.filter((call) => call.includes("/internal/announcements")).length;
    const before = listed();
    await fixture.service.until(() => listed() > before + 1);
    const player = await fixture.pass(fixture.account("alice"), host);
    await player.hears(/survival is asleep and cannot be woken during maintenance, .* 60 min: We move/);
    await player.hears(/Maintenance ends in about 60 min: We move/);
  },
);

test("while the service is away players are told what was heard before", limit, async () => {
  await using fixture = await startFixture({}, { prepare: sleeps });
  announce(fixture, { public: true });
  const listed = () =>
    fixture.service.calls.filter((call) => call.includes("/internal/announcements")).length;
  const before = listed();
  await fixture.service.until(() => listed() > before + 1);
  fixture.service.isDown = true;
  const player = await fixture.passRaw(fixture.account("alice"), host);
  await player.hears(/Announcement: We move to new disks\./);
});

test(
  "who comes to a server is told once, and who was there before is left to its console",
  limit,
  async () => {
    await using fixture = await startFixture(
      {},
      {
        prepare: ({ service, survival }) => {
          service.servers.set("survival", runningAt("survival", survival));
        },
      },
    );
    const early = await fixture.pass(fixture.account("early"), host);
    await fixture.survival.player("early");
    // Who hears something on the server has been seen there by the proxy.
    announce(fixture, { text: { en: "First." } });
    await early.hears(/Announcement: First\./);
    announce(fixture, { start: new Date(Date.now() + 1).toISOString() });
    const late = await fixture.pass(fixture.account("late"), host);
    await late.hears(/Announcement: We move/);
    assert.deepEqual(
      early.chat.filter((line) => line.includes("We move")),
      [],
    );
  },
);
