// A volume that is full, or becomes full, at every step of what changes it: the code says so, the world is what it was,
// and the room that was taken is there again. Room is given in the smallest pieces until the task succeeds, first by
// inodes and then by blocks, so each of its steps is once the one that finds no room.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import type { Task, TaskFault, TaskResult } from "@svc/proto/world-task";
import { Folder } from "@svc/world";
import { digestOf, makeZip, treeOf } from "../../../libs/world/src/testing.ts";
import { runTask } from "./run.ts";

const region = randomBytes(300_000);
const newJar = randomBytes(20_000);
const to = { kind: "archive" as const, name: "alpha-1.tar.zst" };
const blockBytes = 4_096;

let base: string;
let volume: string;
let server: Server;
const at = (...names: string[]) => join(base, ...names);
const limit = (what: string) => execFileSync("mount", ["-o", `remount,${what}`, volume]);
const used = () => {
  const { files, ffree, blocks, bfree } = statfsSync(volume);
  return { inodes: files - ffree, blocks: blocks - bfree };
};
const url = () => `http://127.0.0.1:${(server.address() as { port: number }).port}/u`;

async function mountAt(folder: string): Promise<void> {
  volume = folder;
  await mkdir(volume, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m,nr_inodes=10000", "tmpfs", volume]);
}

async function makeWorld(): Promise<void> {
  await mkdir(at("world", "world", "region"), { recursive: true });
  await mkdir(at("world", "mods"), { recursive: true });
  await writeFile(at("world", "world", "region", "r.0.0.mca"), region);
  await writeFile(at("world", "mods", "a.jar"), "a");
  await writeFile(at("world", "mods", "b.jar"), "b", { mode: 0o600 });
  await writeFile(at("world", "server.properties"), "motd=hi\n");
  const entries = [
    { name: "mods/a.jar", content: newJar },
    { name: "mods/new/c.jar", content: "c" },
    { name: "mods/new/d.jar", content: newJar },
    { name: "read.me", content: "me" },
  ];
  await writeFile(at("world", "pack.zip"), makeZip(entries));
}

function run(task: Task, about: { content?: string; onProgress?: () => void } = {}): Promise<TaskResult> {
  const { content = "", onProgress = () => {} } = about;
  const settings = {
    task,
    token: "",
    content: () => Buffer.from(content),
    parts: () => [{ size: newJar.length, sha256: digestOf(newJar) }],
    world: at("world"),
    archive: at("store"),
    tmp: base,
  };
  return runTask(settings, { ...settings, signal: new AbortController().signal, onProgress, say: () => {} });
}

async function treeAt(folder: string) {
  await using root = await Folder.openRoot(at(folder));
  const tree = await treeOf(root, { withHidden: true });
  return tree.map(({ mtimeMs: _, ...entry }) => entry);
}

const limits = {
  inodes: (more: number) => limit(`nr_inodes=${used().inodes + more}`),
  blocks: (more: number) => limit(`size=${(used().blocks + more) * blockBytes}`),
};

/** Gives one more at a time until the task is done; says how often it was refused. */
async function refusedUntilDone(
  what: keyof typeof limits,
  act: () => Promise<TaskResult>,
  about: { code: TaskFault["code"]; folder: string; step: number },
): Promise<number> {
  const before = await treeAt(about.folder);
  const room = used();
  for (let more = 0; more < 2_000; more += about.step) {
    limits[what](more);
    const result = await act();
    if (result.ok) return more / about.step;
    const received = `${more} ${what} more: ${JSON.stringify(result)}`;
    assert.equal(result.fault.code, about.code, received);
    assert.deepEqual(await treeAt(about.folder), before, received);
    assert.deepEqual(used(), room, received);
  }
  throw new Error(`it never succeeded, however many ${what} there were`);
}

const isRoot = process.getuid?.() === 0;
const options = { skip: !isRoot && "needs root for a tmpfs" };

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-full-"));
  await mkdir(at("store"));
});
afterEach(async () => {
  if (volume) execFileSync("umount", ["--lazy", volume]);
  await rm(base, { recursive: true });
});
before(async () => {
  server = createServer((_, response) => void response.end(newJar));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
after(() => {
  server.close();
  server.closeAllConnections();
});

describe("a world volume without room", options, () => {
  beforeEach(async () => {
    await mountAt(at("world"));
    await makeWorld();
  });

  type Case = {
    task: () => Promise<Task> | Task;
    content?: string;
    least: Record<keyof typeof limits, number>;
    /** Blocks given at a time. */
    blocks?: number;
  };
  const backedUp = async () => {
    const made = await run({ mode: "backup", to, keep_free: 0 });
    assert.ok(made.ok);
    await writeFile(at("world", "mods", "a.jar"), "later");
    rmSync(at("world", "world"), { recursive: true });
    return made.done.sha256 ?? "";
  };
  const content = "x".repeat(30_000);
  const cases: Record<string, Case> = {
    "a write over a file": {
      content,
      task: () => ({ mode: "write", path: "mods/a.jar", content_sha256: digestOf(Buffer.from(content)) }),
      least: { inodes: 1, blocks: 7 },
    },
    "a write of a new file": {
      content,
      task: () => ({
        mode: "write",
        path: "mods/c.jar",
        content_sha256: digestOf(Buffer.from(content)),
        create_only: true,
      }),
      least: { inodes: 1, blocks: 7 },
    },
    "a new folder": { task: () => ({ mode: "mkdir", path: "mods/more" }), least: { inodes: 1, blocks: 0 } },
    "the landing of an upload": {
      task: () => ({
        mode: "upload",
        path: "mods/a.jar",
        overwrite: true,
        url: url(),
        size: newJar.length,
      }),
      least: { inodes: 1, blocks: 4 },
    },
    "an extraction": {
      task: () => ({ mode: "unzip", path: "pack.zip", overwrite: true }),
      least: { inodes: 9, blocks: 11 },
    },
    "an archive in place": {
      task: () => ({ mode: "archive", path: "all.zip", names: ["world", "mods", "server.properties"] }),
      least: { inodes: 1, blocks: 7 },
      blocks: 10,
    },
    "a restore": {
      task: async () => ({ mode: "restore", from: to, sha256: await backedUp() }),
      least: { inodes: 9, blocks: 7 },
      blocks: 10,
    },
    "a restore of some files": {
      task: async () => ({
        mode: "restore",
        from: to,
        sha256: await backedUp(),
        only: ["mods/a.jar", "world"],
      }),
      least: { inodes: 6, blocks: 7 },
      blocks: 10,
    },
  };
  for (const [name, { task, content, least, blocks = 1 }] of Object.entries(cases)) {
    for (const what of ["inodes", "blocks"] as const) {
      test(`${name} that finds no more ${what} changes nothing, and gives back what it took`, async () => {
        const asked = await task();
        const step = what === "blocks" ? blocks : 1;
        const about = { code: "volume_full", folder: "world", step } as const;
        const act = () => run(asked, content === undefined ? {} : { content });
        const refused = await refusedUntilDone(what, act, about);
        assert.ok(refused >= least[what], `it was refused ${refused} times`);
      });
    }
  }

  test("somebody else who takes the last room in the middle changes nothing of that", async () => {
    const sha256 = await backedUp();
    const before = await treeAt("world");
    for (const asked of [
      { mode: "unzip", path: "pack.zip", overwrite: true },
      { mode: "restore", from: to, sha256 },
    ] as const) {
      let count = 0;
      const filler = at("world", ".svc-filler");
      // From the second step on nothing is left.
      const onProgress = () => {
        count += 1;
        if (count > 1 || existsSync(filler)) return;
        try {
          writeFileSync(filler, Buffer.alloc(64 << 20));
        } catch {
          // As much of it as there was room for.
        }
      };
      const result = await run(asked, { onProgress });
      rmSync(filler);
      assert.ok(!result.ok, asked.mode);
      assert.equal(result.fault.code, "volume_full");
      assert.deepEqual(await treeAt("world"), before);
    }
  });

  test("what makes room works without any", async () => {
    limits.inodes(0);
    limits.blocks(0);
    assert.deepEqual(await run({ mode: "rename", path: "mods/a.jar", to: "mods/z.jar" }), {
      ok: true,
      done: {},
    });
    assert.deepEqual(await run({ mode: "delete", path: "mods" }), { ok: true, done: {} });
    assert.deepEqual((await readdir(at("world"))).sort(), ["pack.zip", "server.properties", "world"]);
  });
});

describe("an archive volume without room", options, () => {
  beforeEach(async () => {
    await mountAt(at("store"));
    await writeFile(at("store", "kept"), "kept");
    await makeWorld();
  });
  for (const what of ["inodes", "blocks"] as const) {
    test(`a backup that finds no more ${what} leaves no archive and no partial`, async () => {
      const about = { code: "store_full", folder: "store", step: 10 } as const;
      const refused = await refusedUntilDone(what, () => run({ mode: "backup", to, keep_free: 0 }), about);
      assert.ok(refused > 0);
      assert.deepEqual(await readdir(at("store")), [to.name, "kept"]);
      assert.ok((await readFile(at("store", to.name))).length > region.length);
    });
    test(`a deduplicated backup that finds no more ${what} leaves no archive, no lease and no pack`, async () => {
      const step = what === "blocks" ? 10 : 1;
      const about = { code: "store_full", folder: "store", step } as const;
      const task = { mode: "backup", to, keep_free: 0, deduplicate: true } as const;
      const refused = await refusedUntilDone(what, () => run(task), about);
      assert.ok(refused > 1, `it was refused ${refused} times`);
      const names = (await readdir(at("store"))).sort();
      const isPack = (name: string) => /^alpha-[0-9a-f]{32}\.pack$/.test(name);
      assert.equal(names.filter(isPack).length, 1);
      assert.deepEqual(
        names.filter((name) => !isPack(name)),
        [`${to.name}.chunks`, "kept"],
      );
      assert.ok((await run({ mode: "verify", from: to })).ok);
    });
  }
});
