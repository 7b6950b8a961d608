import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { TaskResult } from "@svc/proto/world-task";
import { agent, done, fault } from "./testing/agent.ts";

let base: string;
const at = (...names: string[]) => join(base, ...names);

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-agent-"));
  await mkdir(at("store"));
  await mkdir(at("world", "world"), { recursive: true });
  await writeFile(at("world", "world", "level.dat"), "level");
});
afterEach(() => rm(base, { recursive: true }));

const to = { kind: "archive" as const, name: "alpha-1.tar.zst" };

describe("the world agent", () => {
  test("backs a world up, verifies the archive, browses and restores it", async () => {
    const made = done(await agent(base, { mode: "backup", to, keep_free: 0 }));
    assert.equal(made.archive, "alpha-1.tar.zst");
    assert.equal(made.entries, 2);
    const sha256 = made.sha256 ?? "";
    const verified = done(await agent(base, { mode: "verify", from: to, sha256 }));
    assert.equal(verified.size_bytes, (await readFile(at("store", to.name))).length);
    const { listing } = done(await agent(base, { mode: "browse", from: to, path: "world" }));
    assert.deepEqual(
      listing?.map(({ name }) => name),
      ["level.dat"],
    );
    await writeFile(at("world", "world", "level.dat"), "broken");
    await writeFile(at("world", "more"), "more");
    const restored = done(await agent(base, { mode: "restore", from: to, sha256 }));
    assert.deepEqual(restored, { entries: 2, files: 1, bytes: 5, removed: 1 });
    assert.equal(await readFile(at("world", "world", "level.dat"), "utf8"), "level");
    assert.deepEqual(await readdir(at("world")), ["world"]);
  });

  test("counts and names what it cannot read, and backs all else up", async () => {
    // Root reads everything.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    await mkdir(at("world", "closed"));
    await writeFile(at("world", "closed", "in.txt"), "in");
    await writeFile(at("world", "locked.txt"), "locked");
    await symlink("/etc/passwd", at("world", "link"));
    for (const path of [at("world", "closed"), at("world", "locked.txt")]) await chmod(path, 0);
    if (uid !== undefined) for (const path of [base, at("store")]) await chown(path, uid, uid);
    const made = done(
      await agent(base, { mode: "backup", to, keep_free: 0 }, uid === undefined ? {} : { uid }),
    );
    assert.deepEqual([made.entries, made.skipped_entries, made.unreadable_entries], [2, 3, 2]);
    assert.deepEqual(made.skipped_names, [
      "closed (it cannot be read)",
      "link (neither file nor folder)",
      "locked.txt (it cannot be read)",
    ]);
    await chmod(at("world", "closed"), 0o700);
  });

  test("ends with a fault and exit code 0 when an archive is missing", async () => {
    const run = await agent(base, { mode: "restore", from: to, sha256: "0".repeat(64) });
    assert.equal(fault(run).code, "backup_corrupt");
  });

  test("ends with another exit code and says why when it was started wrongly", async () => {
    await rm(at("world"), { recursive: true });
    const run = await agent(base, { mode: "backup", to, keep_free: 0 });
    assert.equal(run.code, 1);
    assert.match(run.stderr, /world/);
    assert.equal(run.result satisfies TaskResult | undefined, undefined);
  });

  test("stopped in the middle, it leaves no partial and says so by its exit code", async () => {
    await writeFile(at("world", "large"), Buffer.alloc(400 << 20));
    const run = await agent(base, { mode: "backup", to, keep_free: 0 }, { stopAtProgress: true });
    assert.equal(run.code, 143);
    assert.equal(run.result, undefined);
    assert.deepEqual(await readdir(at("store")), []);
  });
});
