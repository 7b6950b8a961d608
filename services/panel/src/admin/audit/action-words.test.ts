import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { en } from "../../words/en/index.ts";
import { actionWords } from "./action-words.ts";

test("every action that a service writes down has words", () => {
  const root = join(import.meta.dirname, "../../../..");
  const lines = globSync("{identity,lifecycle,storage,builds,ops-watchdog}/src/**/*.ts", { cwd: root })
    .filter((file) => !/test(ing)?[/.]/.test(file))
    .flatMap((file) => readFileSync(join(root, file), "utf8").split("\n"))
    .filter((line) => /\baction(:| =)|auditOf\(|\baudit\(/.test(line));
  const written = lines.flatMap((line) =>
    [...line.matchAll(/"([a-z_]+(?:\.[a-z_]+)+)"/g)].map(([, action = ""]) => action),
  );
  assert.ok(written.length > 50, "the services write down actions like this");
  const known: Readonly<Record<string, string>> = en.audit.actions;
  assert.deepEqual(
    [...new Set(written)].filter((action) => known[action] === undefined),
    [],
  );
});

test("an action without words keeps its code", () => {
  assert.equal(actionWords(en, "server.wake"), "Server woken");
  for (const code of ["future.action", "constructor", ""]) assert.equal(actionWords(en, code), code);
});
