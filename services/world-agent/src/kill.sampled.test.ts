// kill -9 at every step of every mode that changes a world: afterwards, and after the next run has settled what was left,
// the tree is the old one or the new one, bit for bit, and no partial is left.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import type { Task } from "@svc/proto/world-task";
import { Folder, recoverVolume } from "@svc/world";
import { makeZip } from "../../../libs/world/src/testing/zip.ts";
import { digestOf, treeOf } from "../../../libs/world/src/testing.ts";
import { runTask } from "./run.ts";
import { agent, done } from "./testing/agent.ts";
import { runFrozenAt } from "./testing/freeze.ts";

const entry = join(import.meta.dirname, "testing/killable.ts");
const region = randomBytes(700_000);
// So little comes in one piece, whatever the machine does beside: each run takes the same steps.
const jar = makeZip([
  { name: "plugin.yml", content: "name: A" },
  { name: "data.bin", content: randomBytes(40_000) },
]);
let base: string;

before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-kill-"));
  await mkdir(join(base, "first", "store"), { recursive: true });
  const world = join(base, "first", "world");
  await mkdir(join(world, "world", "region"), { recursive: true });
  await mkdir(join(world, "plugins"));
  await writeFile(join(world, "world", "level.dat"), "level");
  await writeFile(join(world, "world", "region", "r.0.0.mca"), region);
  await writeFile(join(world, "plugins", "a.jar"), "jar", { mode: 0o600 });
  await writeFile(join(world, "server.properties"), "motd=hi\n");
});
after(() => rm(base, { recursive: true }));

async function treeAt(path: string) {
  await using folder = await Folder.openRoot(path);
  return await treeOf(folder, { withHidden: true });
}

type Case = {
  name: string;
  task: (base: string) => Promise<Task> | Task;
  setup?: (world: string) => Promise<void>;
  content?: string;
};

/** Times of what the run itself makes differ from run to run, those of what it restores do not. */
const strip = (isTimed: boolean) => (tree: Awaited<ReturnType<typeof treeAt>>) =>
  isTimed ? tree : tree.map(({ mtimeMs: _, ...entry }) => entry);

async function everyStep({ name, task, setup, content = "" }: Case): Promise<void> {
  const first = join(base, name, "first");
  await cp(join(base, "first"), first, { recursive: true, preserveTimestamps: true });
  await setup?.(join(first, "world"));
  const asked = await task(first);
  const copy = (to: string) => {
    execFileSync("cp", ["-a", first, join(base, name, to)]);
    return join(base, name, to);
  };
  const bare = strip(asked.mode === "restore" && !asked.only);
  const oldTree = bare(await treeAt(join(first, "world")));
  const whole = copy("whole");
  const { value, changes } = await runFrozenAt(Number.POSITIVE_INFINITY, () => run(whole, asked, content));
  assert.equal(value?.ok, true, JSON.stringify(value));
  const newTree = bare(await treeAt(join(whole, "world")));
  assert.ok(changes > 2, `${changes} steps were counted`);

  const seen = { old: 0, new: 0 };
  for (const step of sampleOf(
    Array.from({ length: changes }, (_, index) => index + 1),
    12,
  )) {
    const folder = copy(`step-${step}`);
    const stopped = await runFrozenAt(step, () => run(folder, asked, content));
    // What comes over the network or out of a zip comes in more or fewer pieces; nothing else may take fewer steps.
    const isReached = stopped.value === undefined;
    const isInPieces = ["upload", "archive", "install"].includes(asked.mode);
    if (!isInPieces) assert.ok(isReached, `step ${step} of ${changes} was reached`);
    else assert.ok(isReached || stopped.value?.ok, JSON.stringify(stopped.value));
    await recoverVolume(join(folder, "world"));
    const tree = bare(await treeAt(join(folder, "world")));
    const isOld = JSON.stringify(tree) === JSON.stringify(oldTree);
    if (!isOld) assert.deepEqual(tree, newTree, `killed before step ${step} of ${changes}`);
    seen[isOld ? "old" : "new"] += 1;
    await assertKept(folder);
    await rm(folder, { recursive: true });
  }
  assert.ok(seen.old > 0, "some step is before the change");
  if (JSON.stringify(oldTree) !== JSON.stringify(newTree)) assert.ok(seen.new > 0, "some step is after it");
}

/** Every archive that is listed reads back, and the next backup leaves no partial. */
async function assertKept(folder: string): Promise<void> {
  const isArchive = (name: string) => !name.startsWith(".");
  for (const name of (await readdir(join(folder, "store"))).filter(isArchive)) {
    const verified = await run(folder, { mode: "verify", from: { kind: "archive", name } }, "");
    assert.equal(verified.ok, true, `${name} is listed and reads back`);
  }
  const again = { kind: "archive" as const, name: "alpha-2.tar.zst" };
  assert.equal((await run(folder, { mode: "backup", to: again, keep_free: 0 }, "")).ok, true);
  assert.deepEqual(
    (await readdir(join(folder, "store"))).filter((name) => !isArchive(name)),
    [],
  );
}

/** The agent in this process. */
function run(folder: string, task: Task, content: string) {
  const settings = {
    task,
    token: "",
    content: () => Buffer.from(content),
    parts: () => [{ size: jar.length, sha256: digestOf(jar) }],
    world: join(folder, "world"),
    archive: join(folder, "store"),
    tmp: folder,
  };
  const signal = new AbortController().signal;
  return runTask(settings, { ...settings, signal, onProgress: () => undefined, say: () => undefined });
}

const to = { kind: "archive" as const, name: "alpha-1.tar.zst" };

async function backedUp(folder: string): Promise<string> {
  const { sha256 = "" } = done(await agent(folder, { mode: "backup", to, keep_free: 0 }));
  return sha256;
}

/** What a server and its player did since. */
async function play(world: string): Promise<void> {
  await writeFile(join(world, "world", "level.dat"), "later");
  await rm(join(world, "plugins"), { recursive: true });
  await writeFile(join(world, "plugins"), "a file where a folder was");
  await mkdir(join(world, "added", "deep"), { recursive: true });
  await writeFile(join(world, "added", "deep", "file"), "added");
  await symlink("/etc/passwd", join(world, "link"));
}

async function zipped(world: string): Promise<void> {
  const made = join(world, "..", "made");
  await mkdir(join(made, "plugins", "new"), { recursive: true });
  await writeFile(join(made, "plugins", "a.jar"), "newer jar");
  await writeFile(join(made, "plugins", "new", "c.yml"), "c");
  await writeFile(join(made, "readme.txt"), "readme");
  execFileSync("zip", ["-q", "-r", join(world, "pack.zip"), "."], { cwd: made });
}

describe("killed before any of its steps, the agent leaves the old or the new world", () => {
  test("a backup", () => everyStep({ name: "backup", task: () => ({ mode: "backup", to, keep_free: 0 }) }));

  test("a restore", () =>
    everyStep({
      name: "restore",
      task: async (folder) => {
        const sha256 = await backedUp(folder);
        await play(join(folder, "world"));
        return { mode: "restore", from: to, sha256 };
      },
    }));

  test("a restore of some files", () =>
    everyStep({
      name: "restore-only",
      task: async (folder) => {
        const sha256 = await backedUp(folder);
        await writeFile(join(folder, "world", "world", "level.dat"), "later");
        await writeFile(join(folder, "world", "plugins", "a.jar"), "later");
        await rm(join(folder, "world", "world", "region"), { recursive: true });
        return { mode: "restore", from: to, sha256, only: ["world", "plugins/a.jar"] };
      },
    }));

  test("an extraction", () =>
    everyStep({
      name: "unzip",
      setup: zipped,
      task: () => ({ mode: "unzip", path: "pack.zip", overwrite: true }),
    }));

  test("an archive in place", () =>
    everyStep({
      name: "archive",
      setup: async (world) => {
        await symlink("/etc/passwd", join(world, "plugins", "link"));
      },
      task: () => ({ mode: "archive", path: "all.zip", names: ["world", "plugins", "server.properties"] }),
    }));

  test("a write", () =>
    everyStep({
      name: "write",
      content: "written",
      task: () => ({
        mode: "write",
        path: "plugins/a.jar",
        content_sha256: digestOf(Buffer.from("written")),
      }),
    }));

  test("a write of a new file", () =>
    everyStep({
      name: "create",
      content: "written",
      task: () => ({
        mode: "write",
        path: "new.yml",
        content_sha256: digestOf(Buffer.from("written")),
        create_only: true,
      }),
    }));

  test("a rename", () =>
    everyStep({ name: "rename", task: () => ({ mode: "rename", path: "world", to: "plugins/world" }) }));

  test("a removal", () => everyStep({ name: "delete", task: () => ({ mode: "delete", path: "world" }) }));

  test("an installation that replaces one plugin and removes another", async () => {
    const server = createServer((_, response) => void response.end(jar));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const record = (path: string, sha256: string) => ({
      ...{ path, sha256, source: "modrinth" as const, project: "p", title: "A", version: "2" },
      ...{ version_name: "2.0", installed_at: "2026-01-01T00:00:00.000Z" },
    });
    try {
      await everyStep({
        name: "install",
        setup: async (world) => {
          await writeFile(join(world, "plugins", "old.jar"), "older jar");
          await mkdir(join(world, ".svc"));
          const plugins = [record("plugins/old.jar", digestOf(Buffer.from("older jar")))];
          await writeFile(
            join(world, ".svc", "plugins.json"),
            JSON.stringify({ loader: "paper", game_version: "1.21.4", plugins }),
          );
        },
        task: () => ({
          ...{ mode: "install", url: `http://127.0.0.1:${port}/u`, loader: "paper", game_version: "1.21.4" },
          put: [{ record: record("plugins/a.jar", digestOf(jar)), expect: digestOf(Buffer.from("jar")) }],
          drop: [{ path: "plugins/old.jar", expect: digestOf(Buffer.from("older jar")) }],
        }),
      });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test("an upload", async () => {
    const server = createServer((_, response) => void response.end(jar));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    try {
      await everyStep({
        name: "upload",
        task: () => ({
          mode: "upload",
          path: "plugins/a.jar",
          overwrite: true,
          url: `http://127.0.0.1:${port}/u`,
          size: jar.length,
        }),
      });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

describe("killed before any of its steps, a safe start loses no file and repeats none", () => {
  const set = "20260101T000000Z";
  // The copies of the world are new, so only the times of the files count, which are copied too.
  const since = {
    at: Date.now() - 3_600_000,
    rests: [{ from: Date.now() - 3_500_000, to: Date.now() + 3_600_000 }],
  };
  const inSet = /^\.svc\/set-aside\/\d{8}T\d{6}Z\//;
  const filesIn = async (folder: string) =>
    (await treeAt(join(folder, "world"))).flatMap(({ path, kind, sha256 }) =>
      kind === "file" ? [`${path.replace(inSet, "")} ${sha256}`] : [],
    );
  const setsOf = async (folder: string) =>
    new Set(
      (await treeAt(join(folder, "world"))).flatMap(({ path, kind }) =>
        kind === "file" ? (inSet.exec(path) ?? []) : [],
      ),
    );
  const aside = (id: string): Task => ({ mode: "set-aside", id, since });
  const back = (id: string): Task => ({ mode: "put-back", id });

  async function everyStepOf(
    name: string,
    prepare: (folder: string) => Promise<void>,
    task: Task,
  ): Promise<void> {
    const first = join(base, name);
    await cp(join(base, "first"), first, { recursive: true, preserveTimestamps: true });
    await mkdir(join(first, "world", "plugins", "New"));
    await writeFile(join(first, "world", "plugins", "New.jar"), "new");
    await writeFile(join(first, "world", "plugins", "New", "config.yml"), "config");
    const all = (await filesIn(first)).sort();
    await prepare(first);
    const copy = (to: string) => {
      execFileSync("cp", ["-a", first, join(base, to)]);
      return join(base, to);
    };
    const whole = copy(`${name}-whole`);
    const { value, changes } = await runFrozenAt(Number.POSITIVE_INFINITY, () => run(whole, task, ""));
    assert.equal(value?.ok && value.done.changed?.length, 3);
    const steps = Array.from({ length: changes }, (_, index) => index + 1);
    for (const step of sampleOf(steps, 12)) {
      const folder = copy(`${name}-${step}`);
      await runFrozenAt(step, () => run(folder, task, ""));
      assert.deepEqual((await filesIn(folder)).sort(), all, `killed before step ${step} of ${changes}`);
      const again = await run(folder, task.mode === "put-back" ? task : aside("20260101T000001Z"), "");
      const isOver = !again.ok && again.fault.code === "not_found" && task.mode === "put-back";
      assert.ok(again.ok || isOver, JSON.stringify(again));
      assert.deepEqual((await filesIn(folder)).sort(), all);
      const sets = await setsOf(folder);
      assert.equal(sets.size > 0, task.mode === "set-aside");
      for (const one of sets) assert.equal((await run(folder, back(one.slice(-17, -1)), "")).ok, true, one);
      assert.deepEqual((await filesIn(folder)).sort(), all);
      assert.equal((await setsOf(folder)).size, 0);
      await rm(folder, { recursive: true });
    }
  }

  test("setting aside", () => everyStepOf("aside", async () => undefined, aside(set)));
  test("putting back", () =>
    everyStepOf(
      "back",
      async (folder) => void assert.equal((await run(folder, aside(set), "")).ok, true),
      back(set),
    ));
});

test("a real kill -9 before any rename of a restore leaves the old or the new world as well", async () => {
  const first = join(base, "real");
  await cp(join(base, "first"), first, { recursive: true, preserveTimestamps: true });
  const sha256 = await backedUp(first);
  const newTree = await treeAt(join(first, "world"));
  await play(join(first, "world"));
  const oldTree = await treeAt(join(first, "world"));
  for (let step = 1; ; step += 2) {
    const folder = join(base, `real-${step}`);
    execFileSync("cp", ["-a", first, folder]);
    const task = { mode: "restore" as const, from: to, sha256 };
    const killed = await agent(folder, task, { entry, env: { KILL_BEFORE: String(step) } });
    if (killed.signal !== "SIGKILL") break;
    // The next run of the agent, whatever it is asked for, settles first.
    done(await agent(folder, { mode: "mkdir", path: "next" }));
    const tree = (await treeAt(join(folder, "world"))).filter(({ path }) => path !== "next");
    if (JSON.stringify(tree) !== JSON.stringify(oldTree)) assert.deepEqual(tree, newTree, `rename ${step}`);
    else assert.equal(step, 1, "once the plan is there, the restore is carried through");
  }
});
