// What callers notice while one of two replicas is killed or hangs: 20 requests a second, reads and changes (ADR 0014).

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { wholeOnly } from "@svc/config/testing";
import { patience, until } from "@svc/local-stack/testing";
import { type StackFixture, startStackFixture } from "../security/stack-fixture.ts";
import { assertChanges, outcomesOf, tell, timesOf } from "./figures.ts";
import { isSuccess, type Load, startLoad } from "./load.ts";
import { freeze, pidOf } from "./processes.ts";

const name = "steady";
const hangMs = 20_000;
/** How long load goes on before and after. */
const calmMs = 3_000;
const limits = { killedReadMs: 1_500, hungReadMs: 1_500, changeMs: 3_000 };

describe("one of two replicas", wholeOnly, () => {
  let opened: StackFixture | undefined;
  const fixture = (): StackFixture => {
    assert.ok(opened, "the stack did not start");
    return opened;
  };
  before(async () => {
    const replicas = ["lifecycle", "identity"].flatMap((service) => ["--replicas", `${service}=2`]);
    opened = await startStackFixture([...replicas, "--set", "gateway.session_cache=1ms"]);
    assert.equal((await opened.redeem()).status, 200);
    await opened.leaveSetup();
    const json = { name, subdomain: name, autostartPolicy: "public" };
    const created = await opened.asOwner({ method: "POST", path: "/api/v1/servers", json });
    assert.equal(created.status, 201, created.text);
  });
  after(() => opened?.stop());

  const span = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  /** Load around a fault. Ends with everything answered. */
  async function under(fault: () => Promise<void>): Promise<Load> {
    const load = startLoad(fixture(), name);
    try {
      await span(calmMs);
      await fault();
      await span(calmMs);
    } finally {
      await load.end();
    }
    return load;
  }

  for (const victim of ["identity-2", "lifecycle-2"]) {
    test(`${victim} is killed: every read is answered, no change is lost or doubled`, async (context) => {
      const load = await under(async () => {
        const pid = pidOf(fixture().stack, victim);
        process.kill(pid, "SIGKILL");
        await until(() => pidOf(fixture().stack, victim) !== pid, 30_000, `${victim} to be started again`);
      });
      tell((line) => context.diagnostic(line), load);
      assert.deepEqual(
        outcomesOf(load, "read").filter((one) => !isSuccess(one)),
        [],
      );
      assert.ok(timesOf(outcomesOf(load, "read")).max <= limits.killedReadMs * patience);
      assert.ok(timesOf(outcomesOf(load, "change")).p99 <= limits.changeMs * patience);
      await assertChanges(fixture(), load, name);
    });

    test(`${victim} hangs for 20 s: 99.9 % of reads are answered, no change is lost or doubled`, async (context) => {
      const load = await under(async () => {
        const thaw = freeze(fixture().stack, victim);
        await span(hangMs);
        thaw();
      });
      tell((line) => context.diagnostic(line), load);
      const reads = outcomesOf(load, "read");
      assert.ok(reads.filter(isSuccess).length >= reads.length * 0.999);
      assert.ok(timesOf(reads).p99 <= limits.hungReadMs * patience);
      assert.ok(timesOf(outcomesOf(load, "change")).p99 <= limits.changeMs * patience);
      await assertChanges(fixture(), load, name);
    });
  }
});
