import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tables } from "./database.ts";
import { createBuildsDatabase } from "./testing/bed.ts";

// The compiler holds this list against the types, the test holds it against the live schema.
const columns: { [T in keyof Tables]: Record<keyof Tables[T], true> } = {
  image_whitelist: {
    image_ref: true,
    source: true,
    build_id: true,
    added_by: true,
    enabled: true,
    added_at: true,
  },
  recommended_images: { image_ref: true, seeded_at: true },
};

test("the types have the columns of the live schema", async () => {
  const database = await createBuildsDatabase();
  try {
    const rows = await database.admin(
      `select table_name, column_name from information_schema.columns
       where table_schema = 'builds' and table_name not in ('outbox', 'schema_migrations')`,
    );
    const live: Record<string, string[]> = {};
    for (const row of rows) {
      const table = String(row["table_name"]);
      live[table] = [...(live[table] ?? []), String(row["column_name"])].sort();
    }
    const typed = Object.fromEntries(
      Object.entries(columns).map(([table, names]) => [table, Object.keys(names).sort()]),
    );
    assert.deepEqual(live, typed);
  } finally {
    await database.drop();
  }
});
