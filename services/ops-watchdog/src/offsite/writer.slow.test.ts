import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { openObjectStore } from "@svc/object-store";
import { type Host, type OffsiteFixture, openOffsiteFixture } from "../testing/offsite-fixture.ts";
import { claimWriter } from "./claim.ts";
import { StandbyError } from "./writer.ts";

let fixture: OffsiteFixture;
let host: Host;
let hosts = 0;

before(async () => {
  fixture = await openOffsiteFixture();
});
after(() => fixture?.stop());
beforeEach(async () => {
  await fixture.reset();
  host = addHost();
  fixture.storage.add("bk-1");
});

function addHost(): Host {
  hosts += 1;
  return fixture.addHost(`host-${hosts}`);
}

describe("two installations", () => {
  test("one writes, the other stands by until it takes over; then the first stands by", async () => {
    assert.equal((await host.sync()).state, "completed");
    const other = addHost();
    const standby = await other.sync();
    assert.equal(standby.state, "standby");
    assert.equal(standby.report.writer?.is_this_host, false);
    const plan = await other.run<{ done: boolean; writer?: { host_id: string } }>({
      do: "offsite-take-over",
      apply: false,
    });
    assert.deepEqual([plan.done, plan.writer?.host_id], [false, standby.report.writer?.host_id]);
    assert.equal((await host.sync()).state, "completed");
    const done = await other.run<{ done: boolean }>({ do: "offsite-take-over", apply: true });
    assert.equal(done.done, true);
    assert.equal((await other.sync()).state, "completed");
    assert.equal((await host.sync()).state, "standby");
  });

  for (const way of ["kept", "ignored", "refused"] as const) {
    test(`that begin at once leave one writer, where conditions are ${way}`, async () => {
      fixture.s3.setConditionalPut(way);
      const other = addHost();
      // One database would keep them apart; each takes its claim alone.
      const results = [await host.sync(), await other.sync()].map(({ state }) => state).sort();
      fixture.s3.setConditionalPut("kept");
      assert.deepEqual(results, ["completed", "standby"]);
    });
  }
});

describe("two hosts that claim a bucket at the same moment", () => {
  for (const way of ["kept", "ignored"] as const) {
    test(`do not both hold it, where conditions are ${way}`, async () => {
      fixture.s3.setConditionalPut(way);
      const buckets = [1, 2].map(() => openObjectStore(fixture.s3.options()));
      const claims = await Promise.allSettled(
        buckets.map((bucket, id) =>
          claimWriter({
            ...{ bucket, host: { id: `host-${id}`, name: `${id}.example` } },
            conditionalPut: way === "kept",
            settleMs: 200,
            now: Date.now,
            signal: AbortSignal.timeout(60_000),
          }),
        ),
      );
      // What a pass asks before each deletion.
      const held = await Promise.allSettled(
        claims.flatMap((claim) => (claim.status === "fulfilled" ? [claim.value.assertHeld()] : [])),
      );
      fixture.s3.setConditionalPut("kept");
      for (const bucket of buckets) bucket.close();
      assert.equal(held.filter(({ status }) => status === "fulfilled").length, 1);
      for (const one of [...claims, ...held])
        if (one.status === "rejected") assert.ok(one.reason instanceof StandbyError, String(one.reason));
    });
  }
});
