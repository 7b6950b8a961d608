import assert from "node:assert/strict";
import { link, mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { Folder } from "../path/folder.ts";
import { restoreWorld } from "../restore/restore.ts";
import { storeArchive } from "./store.ts";

const secret = "VoVb0GTlVqZIlDeUrk0qq_I_kMp7oNlqVoVb0GTlVqZ";

test("the secret of the proxy is in no archive, under whatever name, and a world comes back with the rest of its file", async () => {
  const base = await mkdtemp(join(tmpdir(), "svc-leave-"));
  const at = (...names: string[]) => join(base, ...names);
  await mkdir(at("world", "config"), { recursive: true });
  await mkdir(at("store"));
  const paper = `# mine\nproxies:\n  velocity:\n    enabled: true\n    secret: ${secret}\nchunk-loading: 7\n`;
  await writeFile(at("world", "config", "paper-global.yml"), paper);
  await link(at("world", "config", "paper-global.yml"), at("world", "notes.txt"));
  await writeFile(at("world", "level.dat"), "level");
  await using world = await Folder.openRoot(at("world"));
  await using store = await Folder.openRoot(at("store"));
  const { sha256 } = await storeArchive({ world, store, name: "alpha-1.tar.gz", keepFree: 0 });
  const plain = gunzipSync(await readFile(at("store", "alpha-1.tar.gz"))).toString("latin1");
  assert.ok(plain.includes("chunk-loading: 7"));
  assert.ok(!plain.includes(secret));
  assert.equal(
    await readFile(at("world", "config", "paper-global.yml"), "utf8"),
    paper,
    "the world keeps it",
  );
  await rm(at("world", "level.dat"));
  await using archive = await open(at("store", "alpha-1.tar.gz"));
  await restoreWorld({ world, archive, sha256, compare: true });
  const back = await readFile(at("world", "config", "paper-global.yml"), "utf8");
  assert.match(
    back,
    /^# mine\nproxies:\n {2}velocity:\n {4}enabled: true\n {4}secret: \w{32}\nchunk-loading: 7\n$/,
  );
  assert.equal(await readFile(at("world", "level.dat"), "utf8"), "level");
  await rm(base, { recursive: true });
});
