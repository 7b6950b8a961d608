// Deduplicated archives on a real folder: kill -9 at every step of a backup and of a sweep, damaged and lost packs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, open, readdir, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import type { Task } from "@svc/proto/world-task";
import { Folder, openStored, sweepPacks } from "@svc/world";
import { treeOf } from "../../../libs/world/src/testing.ts";
import { runTask } from "./run.ts";
import { runFrozenAt } from "./testing/freeze.ts";

const day = 86_400_000;
const region = randomBytes(400_000);
let base: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-chunks-"));
  await mkdir(join(base, "world", "region"), { recursive: true });
  await mkdir(join(base, "store"));
  await writeFile(join(base, "world", "region", "r.0.0.mca"), region);
  await writeFile(join(base, "world", "level.dat"), "level");
});
afterEach(() => rm(base, { recursive: true }));

function run(task: Task, folder = base) {
  const settings = {
    task,
    token: "",
    content: () => Buffer.alloc(0),
    parts: () => [],
    world: join(folder, "world"),
    archive: join(folder, "store"),
    tmp: folder,
  };
  const deps = { ...settings, signal: new AbortController().signal, onProgress: () => {}, say: () => {} };
  return runTask(settings, deps);
}

const nameOf = (day: number) => `alpha-${day}.tar.zst`;
const backupTask = (number: number): Task => ({
  mode: "backup",
  to: { kind: "archive", name: nameOf(number) },
  keep_free: 0,
  deduplicate: true,
});
const verifyTask = (number: number): Task => ({
  mode: "verify",
  from: { kind: "archive", name: nameOf(number) },
});

async function backup(number: number, folder = base) {
  const result = await run(backupTask(number), folder);
  assert.ok(result.ok, JSON.stringify(result));
  return result.done;
}

async function play(number: number): Promise<void> {
  const file = await open(join(base, "world", "region", "r.0.0.mca"), "r+");
  await file.write(randomBytes(4_096), 0, 4_096, number * 40_960);
  await file.close();
}

const names = async (folder = base) => (await readdir(join(folder, "store"))).sort();
const packs = async (folder = base) => (await names(folder)).filter((name) => name.endsWith(".pack"));

async function sweep(now: number, folder = base, recorded: string[] = []) {
  await using store = await Folder.openRoot(join(folder, "store"));
  return await sweepPacks(store, { recorded: new Set(recorded), now, graceMs: day });
}

async function treeAt(folder: string) {
  await using root = await Folder.openRoot(folder);
  return await treeOf(root, { withHidden: true });
}

async function flipByte(path: string, at: number): Promise<void> {
  const file = await open(path, "r+");
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at);
  await file.write(Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, at);
  await file.close();
}

function assertCorrupt(result: Awaited<ReturnType<typeof run>>, words: RegExp): void {
  assert.ok(!result.ok, "it was refused");
  assert.equal(result.fault.code, "backup_corrupt");
  assert.match(result.fault.message, words);
}

describe("a deduplicated archive", () => {
  test("ten of one world cost at most 1.3 of one, and each restores bit for bit", async () => {
    await writeFile(join(base, "world", "region", "r.0.0.mca"), randomBytes(4_000_000));
    const first = await backup(1);
    const before = await treeAt(join(base, "world"));
    let added = 0;
    for (let number = 2; number <= 10; number += 1) {
      await play(number - 1);
      added += (await backup(number)).added_bytes ?? Number.NaN;
    }
    assert.ok(added < 0.3 * (first.size_bytes ?? 0), `${added} bytes were added to ${first.size_bytes}`);
    const from = { kind: "archive", name: nameOf(1) } as const;
    const restored = await run({ mode: "restore", from, sha256: first.sha256 ?? "", compare: true });
    assert.ok(restored.ok, JSON.stringify(restored));
    assert.deepEqual(await treeAt(join(base, "world")), before);
  });

  test("a backup of a world that did not change adds only its list", async () => {
    await backup(1);
    const { added_bytes = Number.NaN, size_bytes = 0 } = await backup(2);
    assert.ok(added_bytes < 0.05 * size_bytes, `${added_bytes} of ${size_bytes}`);
  });

  test("its bytes as one file are an archive like any other", async () => {
    await backup(1);
    await using store = await Folder.openRoot(join(base, "store"));
    const file = await openStored(store, nameOf(1));
    const { size } = await file.stat();
    const whole = Buffer.alloc(size);
    for (let at = 0; at < size; ) at += (await file.read(whole, at, size - at, at)).bytesRead;
    await file.close();
    await writeFile(join(base, "whole.tar.zst"), whole);
    await rm(join(base, "store", `${nameOf(1)}.chunks`));
    await writeFile(join(base, "store", nameOf(1)), whole);
    const verified = await run(verifyTask(1));
    assert.ok(verified.ok && verified.done.files === 2, JSON.stringify(verified));
  });

  test("whole and deduplicated archives lie side by side, and switching off works", async () => {
    await backup(1);
    const { deduplicate: _, ...whole } = backupTask(2) as Task & { mode: "backup" };
    assert.ok((await run(whole)).ok);
    await backup(3);
    for (const number of [1, 2, 3]) assert.ok((await run(verifyTask(number))).ok);
  });

  test("a damaged chunk is named, and nothing is restored from it", async () => {
    const { sha256 = "" } = await backup(1);
    const [pack = ""] = await packs();
    await flipByte(join(base, "store", pack), 100_000);
    const before = await treeAt(join(base, "world"));
    for (const task of [verifyTask(1), { ...verifyTask(1), sha256 }])
      assertCorrupt(await run(task), /chunk \d+ in alpha-[0-9a-f]{32}\.pack is not what was written/);
    const from = { kind: "archive", name: nameOf(1) } as const;
    assertCorrupt(await run({ mode: "restore", from, sha256 }), /chunk \d+/);
    assert.deepEqual(await treeAt(join(base, "world")), before);
  });

  test("a lost pack, a cut pack and a damaged manifest are each named", async () => {
    await backup(1);
    const [pack = ""] = await packs();
    const path = join(base, "store", pack);
    await truncate(path, (await stat(path)).size - 1);
    assertCorrupt(await run(verifyTask(1)), /ends too early/);
    await rm(path);
    assertCorrupt(await run(verifyTask(1)), /\.pack is missing/);
    await flipByte(join(base, "store", `${nameOf(1)}.chunks`), 200);
    assertCorrupt(await run(verifyTask(1)), /manifest is damaged/);
  });

  test("a chunk that is damaged is written again by the next backup, which is whole", async () => {
    await backup(1);
    const [pack = ""] = await packs();
    await flipByte(join(base, "store", pack), 300_000);
    await play(1);
    assert.match((await backup(2)).damage ?? "", /is not what was written/);
    assert.ok((await run(verifyTask(2))).ok);
  });

  test("kill -9 at every step of a backup leaves the archives before it whole, and the next one succeeds", async () => {
    await backup(1);
    await play(1);
    const whole = join(base, "whole");
    const copy = (to: string) => {
      execFileSync("mkdir", ["-p", to]);
      execFileSync("cp", ["-a", join(base, "world"), join(base, "store"), to]);
    };
    copy(whole);
    const { changes, value } = await runFrozenAt(Number.POSITIVE_INFINITY, () => run(backupTask(2), whole));
    assert.ok(value?.ok && changes > 5, JSON.stringify(value));
    for (const step of sampleOf(
      Array.from({ length: changes }, (_, index) => index + 1),
      20,
    )) {
      const folder = join(base, `step-${step}`);
      copy(folder);
      const stopped = await runFrozenAt(step, () => run(backupTask(2), folder));
      assert.equal(stopped.value, undefined, `step ${step} of ${changes} was reached`);
      assert.ok((await run(verifyTask(1), folder)).ok, `step ${step}: the first archive is whole`);
      if ((await names(folder)).includes(`${nameOf(2)}.chunks`))
        assert.ok((await run(verifyTask(2), folder)).ok, `step ${step}: what has its name is whole`);
      await backup(3, folder);
      const later = Date.now() + 3 * day;
      await sweep(Date.now(), folder);
      await sweep(later, folder);
      for (const number of [1, 3]) assert.ok((await run(verifyTask(number), folder)).ok);
      assert.deepEqual(
        (await names(folder)).filter((name) => name.startsWith(".")),
        [],
        "no lease is left",
      );
      await rm(folder, { recursive: true });
    }
  });

  test("of two backups of a server at once, each that got its name is whole and stays so", async () => {
    await backup(1);
    await play(1);
    await Promise.allSettled([
      run(backupTask(2)),
      run(backupTask(3)),
      sweep(Date.now()),
      sweep(Date.now() + 3 * day),
    ]);
    await backup(4);
    await sweep(Date.now());
    await sweep(Date.now() + 3 * day);
    const found = await names();
    for (const number of [1, 2, 3, 4])
      if (number === 1 || number === 4 || found.includes(`${nameOf(number)}.chunks`))
        assert.ok((await run(verifyTask(number))).ok, `archive ${number}`);
    assert.deepEqual(
      found.filter((name) => name.startsWith(".") || name.endsWith(".retired")),
      [],
    );
  });
});

describe("the sweep of packs", () => {
  test("retires what nothing refers to, deletes it after the grace, and leaves what an archive needs", async () => {
    await backup(1);
    await play(1);
    await backup(2);
    await rm(join(base, "store", `${nameOf(2)}.chunks`));
    const all = await packs();
    assert.equal((await sweep(Date.now())).retired, 1);
    assert.equal((await sweep(Date.now() + day / 2)).deleted, 0);
    assert.deepEqual(await packs(), all);
    assert.equal((await sweep(Date.now() + 2 * day)).deleted, 1);
    assert.ok((await run(verifyTask(1))).ok);
    assert.deepEqual(
      (await names()).filter((name) => name.endsWith(".retired")),
      [],
    );
  });

  test("kill -9 at every step of a sweep leaves what an archive needs, and the next sweep finishes", async () => {
    await backup(1);
    await play(1);
    await backup(2);
    await rm(join(base, "store", `${nameOf(2)}.chunks`));
    const sweeps = async (folder: string) => {
      await sweep(Date.now(), folder);
      return await sweep(Date.now() + 2 * day, folder);
    };
    for (let step = 1; ; step += 1) {
      const folder = join(base, `step-${step}`);
      execFileSync("mkdir", ["-p", folder]);
      execFileSync("cp", ["-a", join(base, "world"), join(base, "store"), folder]);
      const { value } = await runFrozenAt(step, () => sweeps(folder));
      assert.ok((await run(verifyTask(1), folder)).ok, `step ${step}`);
      await sweep(Date.now() + 3 * day, folder);
      await sweep(Date.now() + 6 * day, folder);
      assert.deepEqual((await names(folder)).length, 2, `step ${step}: one manifest and its pack are left`);
      assert.ok((await run(verifyTask(1), folder)).ok, `step ${step}`);
      if (value) break;
      assert.ok(step < 50);
    }
  });

  test("a retired pack is not referred to again", async () => {
    await backup(1);
    const [pack = ""] = await packs();
    await writeFile(join(base, "store", `${pack}.retired`), "");
    await backup(2);
    await rm(join(base, "store", `${nameOf(1)}.chunks`));
    assert.equal((await sweep(Date.now() + 2 * day)).deleted, 1);
    assert.ok((await run(verifyTask(2))).ok);
  });

  test("touches nothing while an archive is written, a manifest is damaged or a recorded archive is missing", async () => {
    await backup(1);
    const [pack = ""] = await packs();
    const mark = join(base, "store", `${pack}.retired`);
    await writeFile(mark, "");
    await utimes(mark, new Date(0), new Date(0));
    const manifest = join(base, "store", `${nameOf(1)}.chunks`);
    await flipByte(manifest, 200);
    assert.deepEqual((await sweep(Date.now())).held, [
      { server: "alpha", reason: "a manifest cannot be read" },
    ]);
    await rm(manifest);
    const missing = await sweep(Date.now(), base, [nameOf(1)]);
    assert.deepEqual(missing.held, [{ server: "alpha", reason: "a recorded archive is missing" }]);
    const lease = join(base, "store", `.${nameOf(5)}.0123456789abcdef.chunks.partial`);
    await writeFile(lease, "");
    assert.equal((await sweep(Date.now())).deleted, 0);
    await rm(lease);
    assert.deepEqual(await packs(), [pack]);
    assert.equal((await sweep(Date.now())).deleted, 1);
  });

  test("a backup whose lease was taken away while it wrote does not finish", async () => {
    await backup(1);
    await play(1);
    const { changes } = await runFrozenAt(Number.POSITIVE_INFINITY, () => run(backupTask(2)));
    assert.ok(changes > 0);
    await using store = await Folder.openRoot(join(base, "store"));
    const { move } = Folder.prototype;
    Folder.prototype.move = async function (this: Folder, name, to) {
      if (name.startsWith(`.${nameOf(3)}.`)) await store.removeFile(name);
      await move.call(this, name, to);
    };
    try {
      await assert.rejects(run(backupTask(3)).then((result) => assert.ok(result.ok, JSON.stringify(result))));
    } finally {
      Folder.prototype.move = move;
    }
    assert.ok(!(await names()).includes(`${nameOf(3)}.chunks`));
    for (const number of [1, 2]) assert.ok((await run(verifyTask(number))).ok);
  });
});
