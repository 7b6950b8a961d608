// Killed at every step, a run leaves the world or a complete archive of it, and the next run finishes.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { killPoint } from "@svc/config/testing";
import { resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { lockedServers } from "@svc/world-lock";
import { createClusterProcess } from "../testing/cluster-process.ts";
import { hanging } from "../testing/outage.ts";
import { openReaperFixture, type ReaperFixture } from "../testing/reaper/fixture.ts";
import { interruptAt, type KillPoint, killAt } from "../testing/reaper/kill-points.ts";
import { addVolume, namespace, writeFiles } from "../testing/worlds.ts";

// Long enough that a run on a busy machine keeps it, short enough that a dead one does not delay the next.
const quickLock = ["storage.lock_ttl=2s", "storage.lock_refresh=200ms"];

describe("a killed run", () => {
  let fixture: ReaperFixture;
  const cluster = createClusterProcess();
  before(async () => {
    fixture = await openReaperFixture(cluster.start);
  });
  after(() => fixture?.close());

  const isSafe = async (name: string) => (await fixture.hasVolume(name)) || (await fixture.isArchived(name));
  const isReleased = (name: string) => fixture.base.servers.released.some((one) => one.name === name);
  const addMoved = async (name: string) => {
    const claim = `world-${name}-m0123456789ab`;
    const path = join(fixture.base.dataDir, "worlds", claim);
    await fixture.addIdle(name, { owner: "usr-1", files: { "level.dat": "left on the old node" } });
    writeFiles(path, { "level.dat": "moved" });
    await addVolume(fixture.base.kube, { claim, path });
    const merge = { spec: { storage: { claimName: claim, size: "1Gi" } } };
    await fixture.base.kube.patch(lockedServers, { name, namespace }, { merge });
    const uidOf = async () =>
      (await fixture.base.kube.find(resources.claims, { name: claim, namespace }))?.metadata.uid;
    return { uidOf, first: await uidOf() };
  };
  const runAgain = () => fixture.runOnce({ overrides: [...quickLock, "storage.reaper_silence=0s"] });

  test("the next owner of a moved world's server gets a volume, also when the run died before creating it", async () => {
    const whole = await addMoved("moved");
    assert.equal((await fixture.runOnce()).summary["reaped"], 1);
    const fresh = await whole.uidOf();
    assert.ok(fresh !== undefined && fresh !== whole.first);
    const { uidOf, first } = await addMoved("moved-dies");
    const { change } = killAt({ at: "volume", when: "after" });
    await fixture.runOnce({ overrides: quickLock, change });
    assert.equal(await uidOf(), undefined);
    await until(async () => (await runAgain()) && isReleased("moved-dies"), 30_000);
    assert.ok(![undefined, first].includes(await uidOf()));
  });

  test("no volume is left of a moved world whose server is deleted", async () => {
    const { uidOf } = await addMoved("moved-away");
    const retiring = { requested_at: new Date().toISOString(), delete: true };
    fixture.base.servers.overrides.set("moved-away", { retiring });
    assert.equal((await fixture.runOnce()).summary["deleted"], 1);
    assert.equal(await uidOf(), undefined);
  });

  /** The world or its archive exists at any time, and in the end the server is released without its world. */
  async function assertEnds(name: string): Promise<void> {
    assert.ok(await isSafe(name));
    await until(async () => {
      const { summary } = await runAgain();
      assert.ok(await isSafe(name), JSON.stringify(summary));
      return isReleased(name);
    }, 30_000);
    assert.equal(await fixture.hasVolume(name), false);
    assert.ok(await fixture.isArchived(name));
  }

  const deaths = (["hold", "lock", "job row", "job", "volume", "release", "unlock"] as const).flatMap((at) =>
    (["before", "after"] as const).map((when): KillPoint => ({ at, when })),
  );
  for (const [number, death] of deaths.entries()) {
    test(
      `${death.when} "${death.at}" keeps the world safe, and the next run finishes its work`,
      killPoint(number, 4),
      async () => {
        const name = `dies-${death.when}-${death.at.replace(" ", "-")}`;
        await fixture.addIdle(name, { owner: "usr-1" });
        const { change, hasDied } = killAt(death);
        const run = await fixture.runOnce({ overrides: quickLock, change });
        assert.ok(hasDied(), `${death.at} was reached: ${JSON.stringify(run)}`);
        assert.equal(run.state, "running", "a dead process records no end");
        await assertEnds(name);
      },
    );
  }

  const victims = {
    "NATS dies": { inject: () => fixture.base.nats.kill(), recover: () => fixture.base.nats.start() },
    "PostgreSQL dies": { inject: () => fixture.base.wire.cut(), recover: () => fixture.base.wire.recover() },
    "the cluster dies": { inject: () => cluster.kill(), recover: () => cluster.restart() },
    "NATS hangs": hanging(() => fixture.base.nats.pause()),
    "PostgreSQL hangs": hanging(() => fixture.base.wire.pause()),
    "the cluster hangs": hanging(cluster.pause),
  };
  const outages = Object.entries(victims).flatMap(([victim, outage]) =>
    deaths.map((death) => ({ victim, outage, ...death })),
  );
  for (const [number, { victim, outage, at, when }] of outages.entries()) {
    test(
      `${victim} ${when} "${at}": the world is safe, and this run or the next one finishes`,
      killPoint(number, 27),
      async () => {
        const name = `out-${victim.replaceAll(" ", "-").toLowerCase()}-${when}-${at.replace(" ", "-")}`;
        await fixture.addIdle(name, { owner: "usr-1" });
        const { change, hasDied } = interruptAt({ at, when }, outage);
        const run = await fixture.runOnce({ overrides: quickLock, change });
        assert.ok(hasDied(), `${at} was reached: ${JSON.stringify(run)}`);
        await assertEnds(name);
      },
    );
  }
});
