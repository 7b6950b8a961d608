import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, describe, test } from "node:test";
import { takeLock } from "./lock.ts";
import type { WatchdogState } from "./state.ts";
import { openStateFile, type StateFile } from "./state-file.ts";

const root = mkdtempSync(join(tmpdir(), "svc-watchdog-state-"));
after(() => rmSync(root, { recursive: true, force: true }));

const now = 1_000_000_000_000;
const checkedAt = (at: number) => (state: WatchdogState) => ({ ...state, checked_at: at });
const full = async () => {
  throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
};

describe("the state file", () => {
  let dir: string;
  let copyDir: string;
  let count = 0;
  const openFile = (writeFile?: (path: string, text: string) => Promise<void>): StateFile =>
    openStateFile({ dir, copyDir, now: () => now, ...(writeFile && { writeFile }) });
  beforeEach(() => {
    count += 1;
    dir = join(root, `dir-${count}`);
    copyDir = join(root, `copy-${count}`);
  });

  test("is made with its folder, for its owner alone, and every write has the next revision", async () => {
    const file = openFile();
    assert.equal((await file.read()).revision, 0);
    await file.update(checkedAt(1));
    await file.update(checkedAt(2));
    const { revision, checked_at } = await file.read();
    assert.deepEqual([revision, checked_at], [2, 2]);
    assert.equal(statSync(join(dir, "state.json")).mode & 0o777, 0o600);
    assert.equal(statSync(dir).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(dir), ["state.json"]);
  });

  test("a torn one is put aside, and the next begins empty", async () => {
    await openFile().update(checkedAt(1));
    const path = join(dir, "state.json");
    writeFileSync(path, readFileSync(path, "utf8").slice(0, 40));
    const file = openFile();
    assert.equal((await file.read()).checked_at, undefined);
    await file.update(checkedAt(2));
    assert.deepEqual(readdirSync(dir).sort(), ["state.json", `state.json.unreadable-${now / 1_000}`]);
    assert.deepEqual(await file.listUnreadable(), [now]);
    assert.equal((await file.read()).checked_at, 2);
  });

  test("a write that two full disks cut changes nothing and leaves nothing behind", async () => {
    await openFile().update(checkedAt(1));
    const half = openFile(async (path, text) => {
      writeFileSync(path, text.slice(0, 10));
      await full();
    });
    await assert.rejects(half.update(checkedAt(2)), {
      name: "StateUnsavableError",
      message: /ENOSPC.*ENOSPC/,
    });
    assert.equal((await openFile().read()).checked_at, 1);
    assert.deepEqual([...readdirSync(dir), ...readdirSync(copyDir)], ["state.json"]);
  });

  test("a disk that is full moves the state into memory; the newest wins until the disk takes it again", async () => {
    await openFile().update(checkedAt(1));
    const limping = openFile(async (path, text) => {
      if (path.startsWith(dir)) await full();
      writeFileSync(path, text, { mode: 0o600 });
    });
    const { problem } = await limping.update(checkedAt(2));
    assert.match(problem ?? "", /no space/);
    assert.equal((await openFile().read()).checked_at, 2);
    await openFile().update(checkedAt(3));
    assert.equal((await openFile().read()).checked_at, 3);
    assert.deepEqual(readdirSync(copyDir), []);
  });

  test("a folder that cannot be made at all is the same", async () => {
    writeFileSync(dir, "a file");
    const { problem } = await openFile().update(checkedAt(1));
    assert.match(problem ?? "", /ENOTDIR|EEXIST/);
    assert.equal((await openFile().read()).checked_at, 1);
  });

  test("a copy that somebody else could have written is neither read nor written", async () => {
    writeFileSync(dir, "a file");
    mkdirSync(copyDir);
    chmodSync(copyDir, 0o777);
    writeFileSync(join(copyDir, "state.json"), JSON.stringify({ forged: true }));
    assert.equal((await openFile().read()).revision, 0);
    await assert.rejects(openFile().update(checkedAt(1)), { name: "StateUnsavableError" });
  });

  test("changes at once are all there", async () => {
    const file = openFile();
    const add = (id: string) =>
      file.update((state) => ({ ...state, counters: { ...state.counters, [id]: 1 } }));
    await Promise.all(Array.from({ length: 20 }, (_, n) => add(`c${n}`)));
    const { counters, revision } = await file.read();
    assert.deepEqual([Object.keys(counters).length, revision], [20, 20]);
  });
});

describe("the lock", () => {
  test("is held by one, and passes to who waits when its holder is killed", async () => {
    const dir = join(root, "locked");
    const script = `
      import { takeLock } from ${JSON.stringify(join(import.meta.dirname, "lock.ts"))};
      await takeLock(${JSON.stringify(dir)}, "run", 0);
      console.log("held");
      setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(holder.stdout, "data");
    assert.equal(await takeLock(dir, "run", 0), undefined);
    const other = await takeLock(dir, "state", 0);
    assert.ok(other, "another lock of the same folder");
    const waiting = takeLock(dir, "run", 60_000);
    holder.kill("SIGKILL");
    const release = await waiting;
    assert.ok(release);
    await Promise.all([release(), other()]);
  });
});
