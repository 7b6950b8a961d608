// The process is killed at each step of a pass, of a fetch and of a take-over. Nothing is lost, and a repeat finishes.

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { after, before, beforeEach, describe, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import type { Command } from "../host/command.ts";
import { type Host, type OffsiteFixture, openOffsiteFixture } from "../testing/offsite-fixture.ts";
import { day } from "../testing/storage-stub.ts";
import { keyOfArchive } from "./object-key.ts";

let fixture: OffsiteFixture;
let host: Host;
let hosts = 0;

before(async () => {
  fixture = await openOffsiteFixture();
});
after(() => fixture?.stop());
beforeEach(async () => {
  await fixture.reset();
  hosts += 1;
  host = fixture.addHost(`host-${hosts}`);
  await host.run({ do: "back-up", label: "daily" });
  for (const id of ["bk-1", "bk-2"]) fixture.storage.add(id);
});

const keyOf = (id: string) => keyOfArchive(fixture.storage.rows.get(id)?.archive ?? "");
const isStored = (id: string) => fixture.s3.keys().includes(keyOf(id));

async function kill(command: Command, step: string): Promise<void> {
  assert.equal(await host.kill(command, step), "SIGKILL");
}

/** PostgreSQL notices a killed client, and frees its locks, when it next reads from it. */
async function completed(): Promise<void> {
  await until(async () => {
    const { state, report } = await host.sync().catch((error: Error) => {
      if (error.name !== "BusyError") throw error;
      return { state: "busy" as const, report: {} };
    });
    assert.notEqual(state, "failed", JSON.stringify(report));
    return state === "completed";
  }, 60_000);
}

async function assertCopied(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    assert.ok((await fixture.opened(keyOf(id))).equals(readFileSync(fixture.storage.pathOf(id))), id);
    assert.ok(fixture.storage.rows.get(id)?.offsite_at, id);
  }
}

describe("a pass whose process is killed", () => {
  const steps = [
    ...["keys", "probe", "claim", "list", "bundle", "clear", "confirm", "record", "archive", "stored"],
    ...["archive:2", "stored:2", "abandoned", "finish", "report"],
  ];
  for (const step of sampleOf(steps, 3)) {
    test(`at ${step} has recorded nothing that is not in the bucket, and the next one finishes`, async () => {
      await kill({ do: "offsite-sync" }, step);
      for (const [id, { offsite_at }] of fixture.storage.rows)
        if (offsite_at !== undefined) assert.ok(isStored(id), id);
      await completed();
      await assertCopied(["bk-1", "bk-2"]);
    });
  }

  for (const step of sampleOf(["delete", "deleted"], 1)) {
    test(`at ${step} has deleted nothing but what was to be deleted, and the next one finishes`, async () => {
      await completed();
      const row = fixture.storage.rows.get("bk-1");
      assert.ok(row);
      rmSync(fixture.storage.pathOf("bk-1"));
      Object.assign(row, { status: "deleted", expires_at: new Date(Date.now() - day).toISOString() });
      await kill({ do: "offsite-sync" }, step);
      await completed();
      assert.deepEqual([isStored("bk-1"), row.offsite_at], [false, undefined]);
      await assertCopied(["bk-2"]);
    });
  }
});

describe("a fetch whose process is killed", () => {
  for (const step of sampleOf(["download", "verify", "place", "rename"], 1)) {
    test(`at ${step} leaves no bundle that counts, and the next one brings it back`, async () => {
      await completed();
      rmSync(host.bundleDir, { recursive: true });
      const command = { do: "offsite-fetch-db", bundle: "latest", force: false } as const;
      await kill(command, step);
      const listed = await host.run<{ bundles: unknown[] }>({ do: "list" });
      assert.deepEqual(listed.bundles, []);
      const { path } = await host.run<{ path: string }>(command);
      const { results } = await host.run<{ results: { ok: boolean }[] }>({ do: "verify", bundle: path });
      assert.deepEqual(
        results.map(({ ok }) => ok),
        [true],
      );
    });
  }

  test("at its second world has the first in its place, and the next one brings back the rest", async () => {
    await completed();
    for (const id of ["bk-1", "bk-2"]) rmSync(fixture.storage.pathOf(id));
    await kill({ do: "offsite-fetch-worlds" }, "world:2");
    const done = await host.run<{ fetched: number; in_place: number }>({ do: "offsite-fetch-worlds" });
    assert.deepEqual([done.fetched, done.in_place], [1, 1]);
    await assertCopied(["bk-1", "bk-2"]);
  });
});

test("a take-over whose process is killed has changed nothing, and the next one succeeds", async () => {
  await completed();
  const writer = fixture.s3.bytesOf("svc-writer").toString();
  const other = fixture.addHost(`other-${hosts}`);
  assert.equal(await other.kill({ do: "offsite-take-over", apply: true }, "take-over"), "SIGKILL");
  assert.equal(fixture.s3.bytesOf("svc-writer").toString(), writer);
  assert.equal((await other.run<{ done: boolean }>({ do: "offsite-take-over", apply: true })).done, true);
  assert.equal((await host.sync()).state, "standby");
});
