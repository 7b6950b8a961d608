// A sweep beside backups, at each step where they can meet (docs/reference/backups.md#packs).

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { openArchive } from "../archive/open.ts";
import { verifyArchive } from "../archive/verify.ts";
import { Folder } from "../path/folder.ts";
import { openStored } from "./open-stored.ts";
import { storeDeduplicated } from "./store.ts";
import { sweepPacks } from "./sweep.ts";

const day = 86_400_000;
const { list, move } = Folder.prototype;
let base: string;
let world: Folder;
let store: Folder;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-race-"));
  for (const name of ["world", "store"]) await mkdir(join(base, name));
  world = await Folder.openRoot(join(base, "world"));
  store = await Folder.openRoot(join(base, "store"));
  await writeFile(join(base, "world", "region"), randomBytes(1_000_000));
});
afterEach(async () => {
  Object.assign(Folder.prototype, { list, move });
  await world.close();
  await store.close();
  await rm(base, { recursive: true });
});

const nameOf = (number: number) => `alpha-${number}.tar.zst`;
const backup = (number: number) => storeDeduplicated({ world, store, name: nameOf(number), keepFree: 0 });
const forget = (number: number) => rm(join(base, "store", `${nameOf(number)}.chunks`));
const sweep = (inDays = 0, graceMs = day) =>
  sweepPacks(store, { recorded: new Set(), now: Date.now() + inDays * day, graceMs });
const names = async (end: string) =>
  (await readdir(join(base, "store"))).filter((name) => name.endsWith(end));

async function play(number: number): Promise<void> {
  await using file = await open(join(base, "world", "region"), "r+");
  await file.write(randomBytes(4_096), 0, 4_096, number * 200_000);
}

async function verify(number: number): Promise<void> {
  await using file = await openStored(store, nameOf(number));
  await verifyArchive(await openArchive(file), {});
}

/** Does something before a sweep lists the folder for the `step`th time: for marks, for leases, for manifests. */
async function sweepAround(step: number, act: () => Promise<void>, inDays = 0) {
  let lists = 0;
  Folder.prototype.list = async function (this: Folder) {
    lists += 1;
    if (lists === step) {
      Folder.prototype.list = list;
      await act();
    }
    return await list.call(this);
  };
  const swept = await sweep(inDays);
  assert.ok(lists >= step, `there is no list ${step}`);
  return swept;
}

/** Holds a backup where it would give its manifest its name. */
function holdPublishing() {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  Folder.prototype.move = async function (this: Folder, name, to) {
    reached.resolve();
    await gate.promise;
    await move.call(this, name, to);
  };
  return { reached: reached.promise, release: gate.resolve };
}

for (const step of [1, 2, 3])
  test(`a backup that runs whole at list ${step} of a sweep is whole afterwards, as are those before it`, async () => {
    await backup(1);
    await play(1);
    await backup(2);
    await forget(2);
    await sweep();
    await play(2);
    await sweepAround(step, () => backup(3).then(() => {}), 3);
    for (const inDays of [4, 6]) await sweep(inDays);
    for (const number of [1, 3]) await verify(number);
    assert.deepEqual(await names(".retired"), [], "nothing is left of what backup 2 wrote");
  });

for (const step of [1, 2, 3])
  test(`a backup that publishes at list ${step} of a sweep keeps what it refers to`, async () => {
    await backup(1);
    await play(1);
    await backup(2);
    const held = holdPublishing();
    const third = backup(3);
    await held.reached;
    await forget(2);
    await sweep();
    const publish = async () => {
      held.release();
      await third;
    };
    await sweepAround(step, publish, 3);
    for (const inDays of [6, 9]) await sweep(inDays);
    for (const number of [1, 3]) await verify(number);
  });

test("a pack that is retired while a backup refers to it stays, and the backup after that does not refer to it", async () => {
  await backup(1);
  await play(1);
  await backup(2);
  const held = holdPublishing();
  let third: Promise<unknown> = Promise.resolve();
  // The sweep saw no lease; then the backup found out what is known; then the archive it knew that from was deleted.
  await sweepAround(3, async () => {
    third = backup(3);
    await held.reached;
    await forget(2);
    await forget(1);
  });
  const retired = await names(".retired");
  assert.ok(retired.length > 0);
  held.release();
  await third;
  Folder.prototype.move = move;
  for (const inDays of [3, 6]) assert.equal((await sweep(inDays)).deleted, 0);
  await verify(3);
  await backup(4);
  await forget(3);
  assert.equal((await sweep(9)).deleted, retired.length);
  await verify(4);
});

test("two sweeps beside one another, with backups between them, delete nothing that an archive needs", async () => {
  for (const number of [1, 2, 3]) {
    await backup(number);
    await play(number);
  }
  await forget(2);
  await sweepAround(
    2,
    async () => {
      await sweep(3, 0);
      await backup(4);
      await sweep(3, 0);
    },
    3,
  );
  await sweep(6);
  for (const number of [1, 3, 4]) await verify(number);
});

test("a manifest of which only a part has its name holds every pack, and its archive is damaged", async () => {
  await backup(1);
  await play(1);
  await backup(2);
  const packs = await names(".pack");
  const path = join(base, "store", `${nameOf(2)}.chunks`);
  await using file = await open(path, "r+");
  await file.truncate(100);
  await assert.rejects(verify(2), /manifest is damaged/);
  for (const inDays of [3, 6]) assert.equal((await sweep(inDays, 0)).deleted, 0);
  assert.deepEqual(await names(".pack"), packs);
  await verify(1);
  await play(2);
  await backup(3);
  await verify(3);
});

test("damage of what an earlier archive wrote is named by the backup that finds it, which is whole", async () => {
  await backup(1);
  const [pack = ""] = await names(".pack");
  await using file = await open(join(base, "store", pack), "r+");
  await file.write(Buffer.from("damage"), 0, 6, 500_000);
  await play(1);
  const { damage, addedBytes, sizeBytes } = await backup(2);
  assert.match(damage ?? "", new RegExp(`chunk \\d+ in ${pack} is not what was written`));
  assert.ok(addedBytes >= sizeBytes, "all of it was written anew");
  await verify(2);
  await assert.rejects(verify(1), /is not what was written/);
  assert.equal((await backup(3)).damage, undefined);
});
