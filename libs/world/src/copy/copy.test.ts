import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, statSync, utimesSync, writeSync } from "node:fs";
import { chown, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { secondsOf } from "../restore/extract.ts";
import { treeOf } from "../testing/tree.ts";
import { type CopyPlan, copyWorld } from "./copy.ts";

const isRoot = process.getuid?.() === 0;
let base: string;
let from: Folder;
let to: Folder;
const at = (...names: string[]) => join(base, ...names);

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-copy-"));
  await mkdir(at("from", "region"), { recursive: true });
  await mkdir(at("from", "empty"), { mode: 0o750 });
  await writeFile(at("from", "region", "r.0.0.mca"), randomBytes(3 << 20), { mode: 0o600 });
  await writeFile(at("from", "region", "r.0.1.mca"), randomBytes(200_000));
  await writeFile(at("from", "level.dat"), "level");
  await utimes(at("from", "level.dat"), 1_500_000_000.123, 1_500_000_000.123);
  await writeFile(Buffer.concat([Buffer.from(at("from/")), Buffer.from([0xd6, 0xd0])]), "gbk name");
  await mkdir(at("to", "level.dat"), { recursive: true });
  await mkdir(at("to", "lost+found"));
  await writeFile(at("to", "level.dat", "a file in a folder"), "old");
  await writeFile(at("to", "old"), "old");
  from = await Folder.openRoot(at("from"));
  to = await Folder.openRoot(at("to"));
});
afterEach(async () => {
  await from.close();
  await to.close();
  await rm(base, { recursive: true });
});

type Options = Pick<CopyPlan, "signal" | "onProgress">;

/** The copy fails, and the volume is as it was with nothing left behind. */
async function assertRefused(reason: RegExp, options: Options = {}): Promise<void> {
  const before = await treeOf(to, { withHidden: true });
  await assert.rejects(copyWorld({ from, to, compare: true, ...options }), reason);
  assert.deepEqual(await treeOf(to, { withHidden: true }), before);
}

/** Does something once when all is copied and nothing compared. */
function whenCopied(act: () => void): Options {
  let isDone = false;
  return {
    onProgress: (done, total) => {
      if (!isDone && done === total / 2) act();
      isDone ||= done === total / 2;
    },
  };
}

describe("a copy of a world", () => {
  test("makes a volume the same in content, modes and times, removes the rest and keeps lost+found", async () => {
    const copied = await copyWorld({ from, to });
    assert.deepEqual(await treeOf(to), await treeOf(from));
    assert.deepEqual([copied.entries, copied.files, copied.removed, copied.skipped], [6, 4, 2, 0]);
    assert.deepEqual(
      (await readdir(at("to"))).filter((name) => /^\.svc|^lost/.test(name)),
      ["lost+found"],
    );
  });

  test("that is compared takes many large and small files, in whatever order they end", async () => {
    const sizes = [
      9_000_000, 300_000, 300_000, 20, 300_000, 2_000_000, 300_000, 20, 5_000_000, 300_000, 300_000,
    ];
    for (const [index, size] of sizes.entries())
      await writeFile(at("from", "region", `many-${10 + index}`), randomBytes(size));
    const copied = await copyWorld({ from, to, compare: true });
    assert.deepEqual(await treeOf(to), await treeOf(from));
    assert.equal(copied.files, 4 + sizes.length);
  });

  test("of files that are somebody else's gives the same tree", {
    skip: !isRoot && "needs root",
  }, async () => {
    await chown(at("from", "region", "r.0.0.mca"), 1_000, 1_000);
    await chown(at("from", "level.dat"), 1_000, 1_000);
    await copyWorld({ from, to });
    assert.deepEqual(await treeOf(to), await treeOf(from));
  });

  test("counts links and pipes, copies none of them and goes through none", async () => {
    await symlink("/etc", at("from", "link"));
    execFileSync("mkfifo", [at("from", "pipe")]);
    const { skipped, skippedPaths } = await copyWorld({ from, to });
    assert.deepEqual([skipped, skippedPaths], [2, ["link", "pipe"]]);
    assert.deepEqual(
      await treeOf(to),
      (await treeOf(from)).filter(({ kind }) => kind !== "other"),
    );
  });

  test("tells how far it is, with the comparison up to all of it twice", async () => {
    const told: number[] = [];
    const onProgress = (done: number, total: number) => void told.push(done / total);
    const { bytes } = await copyWorld({ from, to, onProgress });
    assert.equal(told.at(-1), 1);
    told.length = 0;
    await copyWorld({ from, to, compare: true, onProgress });
    assert.deepEqual([told.toSorted((one, other) => one - other), told.at(-1)], [told, 1]);
    assert.ok(bytes > 3 << 20);
  });

  test("finds a byte that is another one in the copy", async () => {
    const spoil = () => {
      const [stage = ""] = readdirSync(at("to")).filter((name) => name.startsWith(".svc-copy-"));
      const file = at("to", stage, "new", "region", "r.0.1.mca");
      const seconds = secondsOf(Math.floor(statSync(file).mtimeMs));
      const fd = openSync(file, "r+");
      writeSync(fd, "spoilt", 100_000);
      closeSync(fd);
      utimesSync(file, seconds, seconds);
    };
    await assertRefused(/r.0.1.mca is not the same in the copy/, whenCopied(spoil));
  });

  test("of a world that changes meanwhile fails", async () => {
    const change = () => void execFileSync("touch", [at("from", "level.dat")]);
    await assertRefused(/level.dat is not the same in the copy/, whenCopied(change));
  });

  test("that is stopped leaves the volume as it was", async () => {
    const stopping = new AbortController();
    const onProgress = () => stopping.abort(new Error("stopped"));
    await assertRefused(/^Error: stopped$/, { signal: stopping.signal, onProgress });
  });

  test("of a world with an interrupted switch is refused", async () => {
    await mkdir(at("from", ".svc-restore-1"));
    await writeFile(at("from", ".svc-restore-1", "plan"), '{"kind":"merge","at":[]}');
    await assertRefused(/carried through/);
  });

  test("into a volume that is too small is volume_full", { skip: !isRoot && "needs root" }, async () => {
    await mkdir(at("small"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", at("small")]);
    try {
      await using small = await Folder.openRoot(at("small"));
      await assert.rejects(copyWorld({ from, to: small }), (error) => isWorldFault(error, "volume_full"));
      assert.deepEqual(await readdir(at("small")), []);
    } finally {
      execFileSync("umount", ["-l", at("small")]);
    }
  });
});
