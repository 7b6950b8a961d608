// Builds of two releases use one database while an upgrade runs, so a migration adds, and what it replaces goes with a later release
// (docs/reference/data.md#migrations).

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "../..");

const breaking: readonly (readonly [RegExp, string])[] = [
  [/\bdrop\s+(table|column|view|schema|type|function)\b/, "takes away what the release before uses"],
  [/\brename\b/, "takes away the name that the release before uses; add a new one and write both"],
  [
    /\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/,
    "changes a type that the release before reads and writes",
  ],
  [/\bset\s+not\s+null\b/, "refuses rows that the release before writes"],
  [/\badd\s+constraint\b(?!.*\bnot\s+valid\b)/, "may refuse rows that the release before writes"],
];
const marker = /^[ \t]*--\s*contract:\s*\S.*$/gm;
const marked = "/*contract*/";

/** A column that must have a value and gets none by itself: the release before does not know it. */
const isUnfilled = (part: string) =>
  /\badd\s+column\b/.test(part) && /\bnot\s+null\b/.test(part) && !/\bdefault\b|\bgenerated\b/.test(part);

/** What a migration would break for the release before, unless the statement is marked with `-- contract: why`. */
function breaksOf(sql: string): string[] {
  const bodiless = sql.replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "");
  const statements = bodiless.replaceAll(marker, marked).replaceAll(/--.*$/gm, "").split(";");
  return statements.flatMap((text) => {
    const statement = text.replaceAll(/\s+/g, " ").trim().toLowerCase();
    // What is new is not known to the release before.
    if (statement.startsWith(marked) || /^create\b/.test(statement)) return [];
    const found = breaking.filter(([pattern]) => pattern.test(statement)).map(([, why]) => why);
    if (statement.split(/,(?![^(]*\))/).some(isUnfilled))
      found.push("adds a column that the release before leaves empty");
    return found.map((why) => `${statement.slice(0, 80)}: ${why}`);
  });
}

const files = globSync(["services/*/migrations/*.sql", "libs/store/migrations/*.sql"], { cwd: root }).sort();

test("no migration takes away what the release before needs, unless it says why it may", () => {
  assert.ok(files.length > 40, "the migrations are found");
  const found = files.flatMap((file) =>
    breaksOf(readFileSync(join(root, file), "utf8")).map((one) => `${file}: ${one}`),
  );
  assert.deepEqual(found, [], "see docs/reference/data.md#migrations");
});

for (const [sql, count] of [
  ["alter table a drop column b;", 1],
  ["-- contract: no build since 0.3 reads it\nalter table a drop column b;", 0],
  ["alter table a rename column b to c;", 1],
  ["alter table a alter column b type bigint;", 1],
  ["alter table a alter column b set not null;", 1],
  ["alter table a add column b text not null;", 1],
  ["alter table a add column b numeric(10, 2) not null default 0, add column c text;", 0],
  ["alter table a add constraint c check (b > 0);", 1],
  ["drop index a_b;\ncreate table t (a text not null);", 0],
  ["create function f() returns trigger as $$ begin drop table x; end $$ language plpgsql;", 0],
] as const) {
  test(`the check finds ${count} breaks in: ${sql.replace("\n", " ")}`, () => {
    assert.equal(breaksOf(sql).length, count);
  });
}
