// Players of servers are told once, whatever replica dies where, and by as many replicas as there are.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { servers } from "../cluster/resource.ts";
import { namespace } from "../testing/fixture.ts";
import {
  minute,
  openScheduleFixture,
  running,
  type ScheduleFixture,
} from "../testing/schedule/schedule-fixture.ts";
import { type AnnouncerDeps, createAnnouncer } from "./announcer.ts";
import { createAnnouncementStore } from "./store.ts";

let fixture: ScheduleFixture;
let deps: AnnouncerDeps;
const names = ["told-one", "told-two", "told-three"];

before(async () => {
  fixture = await openScheduleFixture();
  const { deps: base, clock } = fixture;
  const writer = { put: async () => {}, remove: async () => {}, close: async () => {} };
  deps = {
    ...{ servers: base.servers, rcon: base.rcon, log: base.log, now: () => clock.now },
    // What is written into the views is tested with readers of them.
    mesh: { writeView: async () => ({ ...writer, replace: async () => ({ written: 0, removed: 0 }) }) },
    announcements: createAnnouncementStore(fixture.database),
    ...{ lateMs: 2 * minute, keepMs: 90 * 24 * 60 * minute, concurrency: 1 },
  };
  for (const name of names) {
    await fixture.makeServer(name, running);
    await withPlayers(name, 2);
  }
});
after(() => fixture.close());
beforeEach(async () => {
  await fixture.base.database.admin("delete from lifecycle.announcements");
  fixture.commands.length = 0;
});

async function withPlayers(name: string, online: number): Promise<void> {
  const merge = { status: { players: { online, max: 20 } } };
  const patched = await fixture.base.kube.patch(
    servers,
    { name, namespace },
    { merge, subresource: "status" },
  );
  fixture.deps.servers.remember(patched);
}

async function plan(about: { id: string; startMs: number; maintenance: boolean }): Promise<void> {
  const { id, startMs, maintenance } = about;
  await fixture.base.database.admin(
    `insert into lifecycle.announcements (id, text_en, severity, starts_at, ends_at, maintenance, public, created_by, created_at)
     values ($1, $1 || ' text', 'info', $2, $3, $4, false, 'owner', $2)`,
    [id, new Date(startMs), new Date(startMs + 60 * minute), maintenance],
  );
}

const heard = (text: string) => fixture.commands.filter((command) => command.includes(text)).length;

test("each server with players is told once that a message begins, by three replicas at the same time", async () => {
  const replicas = [1, 2, 3].map(() => createAnnouncer(deps));
  await plan({ id: "hello", startMs: fixture.clock.now, maintenance: false });
  await withPlayers("told-three", 0);
  for (let round = 0; round < 5; round++) await Promise.all(replicas.map((replica) => replica.pass()));
  assert.equal(heard("Announcement: hello text"), 2);
  const [row] = await deps.announcements.open(new Date(fixture.clock.now));
  assert.equal(row?.id, "hello");
  await withPlayers("told-three", 2);
  await createAnnouncer(deps).pass();
  assert.equal(heard("hello text"), 3, "who comes within the first minutes is told as well");
  fixture.clock.now += 3 * minute;
  await createAnnouncer(deps).pass();
  assert.equal(heard("hello text"), 3);
});

test("maintenance counts down, also where a step was slept through, and anew once it is moved", async () => {
  const start = fixture.clock.now + 31 * minute;
  await plan({ id: "disks", startMs: start, maintenance: true });
  const announcer = createAnnouncer(deps);
  const told: number[] = [];
  for (const before of [31, 30, 29, 10, 4, 1, 0, -1]) {
    fixture.clock.now = start - before * minute;
    fixture.commands.length = 0;
    await announcer.pass();
    await announcer.pass();
    told.push(heard("disks text"));
  }
  assert.deepEqual(told, [0, 3, 0, 3, 3, 3, 3, 0]);
  await plan({ id: "moved", startMs: fixture.clock.now + 10 * minute, maintenance: true });
  await announcer.pass();
  await fixture.base.database.admin(
    "update lifecycle.announcements set starts_at = starts_at + interval '5 minutes' where id = 'moved'",
  );
  fixture.clock.now += 6 * minute;
  await announcer.pass();
  assert.equal(heard("begins in 10 minutes: moved text"), 3);
  assert.equal(heard("begins in 9 minutes: moved text"), 3);
});

test("a replica that is killed at any effect leaves nobody who is told twice, and the others are told", async () => {
  for (let at = 1; at <= 2 * names.length; at++) {
    for (const when of ["before", "after"] as const) {
      const id = `killed-${at}-${when}`;
      await plan({ id, startMs: fixture.clock.now, maintenance: false });
      const victim = killedAt(at, when);
      void createAnnouncer(victim.deps).pass();
      await until(() => victim.isKilled());
      const heir = createAnnouncer(deps);
      await heir.pass();
      await heir.pass();
      const count = heard(`${id} text`);
      // Only a claim whose line was not sent is lost, and the victim tells one server after the other.
      assert.ok(count === names.length || count === names.length - 1, `${id}: ${count}`);
      const perServer = await fixture.base.database.admin(
        "select server_name from lifecycle.announcement_deliveries where announcement_id = $1",
        [id],
      );
      assert.equal(perServer.length, names.length);
      await fixture.base.database.admin("delete from lifecycle.announcements");
    }
  }
});

/** Dies at its n-th effect: none of its calls works afterwards. */
function killedAt(at: number, when: "before" | "after") {
  let effects = 0;
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    return new Promise<never>(() => {});
  };
  const counted = <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    (async (...args: A): Promise<R> => {
      if (isKilled) return kill();
      effects += 1;
      const isLast = effects === at;
      if (isLast && when === "before") return kill();
      const result = await work(...args);
      return isLast ? kill() : result;
    }) as (...args: A) => Promise<R>;
  const { announcements, rcon } = deps;
  return {
    isKilled: () => isKilled,
    deps: {
      ...deps,
      announcements: { ...announcements, claimDelivery: counted(announcements.claimDelivery) },
      rcon: { run: counted(rcon.run) },
    },
  };
}

test("a server whose console does not answer keeps the others from nothing", async () => {
  const { rcon } = deps;
  await plan({ id: "deaf", startMs: fixture.clock.now, maintenance: false });
  const run: typeof rcon.run = async (server, command) => {
    if (server.metadata.name === "told-one") throw new Error("no answer");
    return rcon.run(server, command);
  };
  await createAnnouncer({ ...deps, rcon: { run } }).pass();
  assert.equal(heard("deaf text"), 2);
});

test("what was over long ago is deleted, with its deliveries", async () => {
  const day = 24 * 60 * minute;
  await plan({ id: "old", startMs: fixture.clock.now - 91 * day, maintenance: false });
  await plan({ id: "young", startMs: fixture.clock.now - 89 * day, maintenance: false });
  await createAnnouncer(deps).pass();
  const rows = await fixture.base.database.admin("select id from lifecycle.announcements");
  assert.deepEqual(
    rows.map(({ id }) => id),
    ["young"],
  );
});
