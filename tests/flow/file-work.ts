// What the command line does with many files at once, and with what a file was before.

import assert from "node:assert/strict";
import type { Stack } from "./stack.ts";

/** The file is at the root of the world and holds `two`. */
export async function assertFileWork(
  stack: Pick<Stack, "svc">,
  { server, path }: { server: string; path: string },
): Promise<void> {
  const { stdout } = await stack.svc("files", "ls", server, "--json");
  const { entries } = JSON.parse(stdout) as { entries: { name: string }[] };
  assert.ok(entries.some(({ name }) => name === path));
  const found = await stack.svc("files", "search", server, "TWO");
  assert.equal(found.code, 0, found.stderr);
  assert.ok(found.stdout.includes(`${path}\n  1: two\n`), found.stdout);
  const packed = await stack.svc("files", "archive", server, "packed.zip", path);
  assert.match(packed.stdout, /^packed\.zip \(.+\) holds 1 files and folders\.$/m, packed.stderr);
  const again = await stack.svc("files", "archive", server, "packed.zip", path);
  assert.match(again.stderr, /file_exists/);
  const taken = await stack.svc("files", "unzip", server, "packed.zip");
  assert.match(taken.stderr, new RegExp(`replace them with --overwrite:\\n {2}${path}$`, "m"));
  const extracted = await stack.svc("files", "unzip", server, "packed.zip", "--overwrite");
  assert.match(extracted.stdout, /^packed\.zip is extracted: 1 files, 4 B\.$/m, extracted.stderr);
  const moved = await stack.svc("files", "mv", server, "packed.zip", "/kept.zip");
  assert.match(moved.stdout, /^packed\.zip is now kept\.zip\.$/m, moved.stderr);
  const history = await stack.svc("files", "history", server, path);
  assert.match(history.stdout, /^[0-9a-f]{16} .* you +4 B$/m, history.stderr);
  const plan = await stack.svc("files", "undo", server, path);
  assert.match(plan.stdout, /^-1: two\n\+1: one$/m, plan.stderr);
  const undone = await stack.svc("files", "undo", server, path, "--yes");
  assert.equal(undone.code, 0, undone.stderr);
  assert.equal((await stack.svc("files", "get", server, path, "-")).stdout, "one\n");
  const refused = await stack.svc("files", "fetch", server, "https://repo.example.net/a.jar", "a.jar");
  assert.match(refused.stderr, /storage\.fetch_from/);
  const plugins = await stack.svc("plugin", "list", server);
  assert.match(plugins.stdout, /^There are no plugins and no mods\.$/m, plugins.stderr);
}
