// The process is killed at each step of a pass, of a rotation, of a verification, of a fetch and of a take-over. Nothing is
// lost, and a repeat finishes.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { after, before, beforeEach, describe, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import { generateKey, type SealKey } from "@svc/sealed";
import type { Command } from "../host/command.ts";
import { type Host, type OffsiteFixture, openOffsiteFixture } from "../testing/offsite-fixture.ts";
import { day } from "../testing/storage-stub.ts";
import type { Verified } from "./verify-copies.ts";

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
  // Names of bundles tell seconds: the copies of a pass are recorded in a later one, so it takes a bundle that knows of them.
  const takenBy = Math.floor(Date.now() / 1_000);
  await until(() => Math.floor(Date.now() / 1_000) > takenBy);
  for (const id of ["bk-1", "bk-2"]) fixture.storage.add(id);
  fixture.builds.addImage("packs/one", "1");
  fixture.builds.addContext();
});

const isStored = (id: string) => fixture.s3.keys().includes(fixture.keyOf(id));

async function kill(command: Command, step: string, keys?: readonly SealKey[]): Promise<void> {
  assert.equal(await host.kill(command, step, keys), "SIGKILL");
}

/** PostgreSQL notices a killed client, and frees its locks, when it next reads from it. */
async function completed(keys: readonly SealKey[] = [fixture.key]): Promise<void> {
  await until(async () => {
    const { state, report } = await host.sync({ keys }).catch((error: Error) => {
      if (error.name !== "BusyError") throw error;
      return { state: "busy" as const, report: {} };
    });
    assert.notEqual(state, "failed", JSON.stringify(report));
    return state === "completed";
  }, 60_000);
}

/** Every image and context has its copy, and the newest list of each names it. */
async function assertIndexed(keys?: readonly SealKey[]): Promise<void> {
  for (const [sha256, bytes] of fixture.builds.bytes) {
    const key = fixture.s3.keys().find((one) => one.includes(`/${sha256}.`)) ?? sha256;
    assert.ok((await fixture.opened(key, keys)).equals(bytes), key);
  }
  for (const folder of ["registry", "uploads"]) {
    const lists = fixture.s3.keys().filter((key) => key.startsWith(`${folder}/index/`));
    assert.equal(lists.length, 1, lists.join(" "));
  }
}

async function assertCopied(ids: readonly string[], keys?: readonly SealKey[]): Promise<void> {
  for (const id of ids) {
    assert.ok(
      (await fixture.opened(fixture.keyOf(id), keys)).equals(readFileSync(fixture.storage.pathOf(id))),
      id,
    );
    assert.ok(fixture.storage.rows.get(id)?.offsite_at, id);
  }
}

describe("a pass whose process is killed", () => {
  const rotating = [
    ...["replaced", "seal-again:2", "keys", "list", "seal-again", "seal-again:5"],
    ...["spare-delete", "spare:2", "replaced:2", "spare-delete:2", "spare"],
  ];
  const steps = [
    ...[
      "keys",
      "probe",
      "claim",
      "list",
      "bundle",
      "clear",
      "confirm",
      "record",
      "archive",
      "sent",
      "stored",
    ],
    ...["archive:2", "sent:2", "stored:2", "snapshot", "read-back", "name", "linked", "retention"],
    ...["images", "part", "part:2", "index", "indexed", "contexts", "part:3", "index:2", "indexed:2"],
    ...["abandoned", "finish", "report"],
  ];
  for (const step of sampleOf(steps, 3)) {
    test(`at ${step} has recorded nothing that is not in the bucket, and the next one finishes`, async () => {
      await kill({ do: "offsite-sync" }, step);
      for (const [id, { offsite_at }] of fixture.storage.rows)
        if (offsite_at !== undefined) assert.ok(isStored(id), id);
      await completed();
      await assertCopied(["bk-1", "bk-2"]);
      await assertIndexed();
    });
  }

  test("within an upload in parts has the next one send the parts that are missing", async () => {
    const bytes = randomBytes(5 << 23);
    const row = fixture.storage.add("bk-3", { bytes });
    const sentParts = () =>
      fixture.s3.requests.filter(
        ({ operation, key, status }) =>
          operation === "upload-part" && key === fixture.keyOf("bk-3") && status === 200,
      ).length;
    // The two small archives come first, then two of its six parts.
    await kill({ do: "offsite-sync" }, "sent:4");
    assert.deepEqual([isStored("bk-3"), row.offsite_at], [false, undefined]);
    const before = sentParts();
    assert.ok(before >= 2 && before < 6, String(before));
    await completed();
    await assertCopied(["bk-1", "bk-2", "bk-3"]);
    // Those whose answer the killed process did not write down are sent again.
    assert.ok(sentParts() <= 6 + 2, String(sentParts()));
    assert.deepEqual(fixture.s3.openUploads(), []);
  });

  for (const step of sampleOf(rotating, 2)) {
    test(`at ${step} of a rotation leaves every copy readable, and the next ones finish`, async () => {
      await completed();
      const next = generateKey();
      await kill({ do: "offsite-sync" }, step, [next, fixture.key]);
      await assertCopied(["bk-1", "bk-2"], [next, fixture.key]);
      await completed([next, fixture.key]);
      assert.equal(fixture.s3.bytesOf("svc-key-id").toString(), `${next.id}\n`);
      await assertCopied(["bk-1", "bk-2"], [next]);
      await assertIndexed([next]);
      assert.ok(!fixture.s3.keys().some((key) => key.startsWith("resealed/")));
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

test("a verification whose process is killed has changed nothing, and the next one opens everything", async () => {
  await completed();
  const before = fixture.s3.keys();
  await kill({ do: "offsite-verify" }, "verify:3");
  assert.deepEqual(fixture.s3.keys(), before);
  const { damaged, checked } = await host.run<Verified>({ do: "offsite-verify" });
  assert.deepEqual([damaged, checked.length], [[], before.length - 2], "all but the two clear objects");
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

  for (const step of sampleOf(["image", "context"], 1)) {
    test(`at ${step} is finished by the next one`, async () => {
      await completed();
      const before = new Map(fixture.builds.bytes);
      fixture.builds.bytes.clear();
      const command = { do: step === "image" ? "offsite-fetch-images" : "offsite-fetch-uploads" } as const;
      await kill(command, step);
      for (const one of ["offsite-fetch-images", "offsite-fetch-uploads"] as const)
        await host.run({ do: one });
      assert.deepEqual([...fixture.builds.bytes.keys()].sort(), [...before.keys()].sort());
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

for (const step of sampleOf(["take-over", "taken-over"], 1)) {
  test(`a take-over whose process is killed at ${step} is whole or has changed nothing, and can be repeated`, async () => {
    await completed();
    const writer = fixture.s3.bytesOf("svc-writer").toString();
    const other = fixture.addHost(`other-${hosts}`);
    const command = { do: "offsite-take-over", apply: true } as const;
    assert.equal(await other.kill(command, step), "SIGKILL");
    assert.equal(fixture.s3.bytesOf("svc-writer").toString() === writer, step === "take-over");
    assert.equal((await other.run<{ done: boolean }>(command)).done, step === "take-over");
    assert.equal((await host.sync()).state, "standby");
    assert.equal((await other.sync()).state, "completed");
  });
}
