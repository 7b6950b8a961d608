// Killed at every step, a run leaves the world or a whole archive of it, and the next one comes to the end.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { killPoint } from "../testing/kill-points.ts";
import { type Bed, openBed } from "./testing/bed.ts";
import { type Death, killedAt } from "./testing/killed.ts";

const quickLock = ["storage.lock_ttl=1s", "storage.lock_refresh=200ms"];

describe("a run that is killed", () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed();
  });
  after(() => bed?.close());

  const isSafe = async (name: string) => (await bed.hasVolume(name)) || (await bed.isArchived(name));
  const isReleased = (name: string) => bed.stage.lifecycle.released.some((one) => one.name === name);
  const goOn = () => bed.runOnce({ overrides: [...quickLock, "storage.reaper_silence=0s"] });

  const deaths = (["hold", "lock", "job row", "job", "volume", "release", "unlock"] as const).flatMap((at) =>
    (["before", "after"] as const).map((when): Death => ({ at, when })),
  );
  for (const [number, death] of deaths.entries()) {
    test(
      `${death.when} "${death.at}" keeps the world safe, and the next run ends what it began`,
      killPoint(number, 4),
      async () => {
        const name = `dies-${death.when}-${death.at.replace(" ", "-")}`;
        await bed.addIdle(name, { owner: "usr-1" });
        const { change, hasDied } = killedAt(death);
        const run = await bed.runOnce({ overrides: quickLock, change });
        assert.ok(hasDied(), `${death.at} came about: ${JSON.stringify(run)}`);
        assert.equal(run.state, "running", "a dead process says nothing of its end");
        assert.ok(await isSafe(name));
        await until(async () => {
          const { summary } = await goOn();
          assert.ok(await isSafe(name), JSON.stringify(summary));
          return isReleased(name);
        }, 30_000);
        assert.equal(await bed.hasVolume(name), false);
        assert.ok(await bed.isArchived(name));
      },
    );
  }
});
