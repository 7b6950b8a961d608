import assert from "node:assert/strict";
import { test } from "node:test";
import { liveColumns, typedColumns } from "@svc/store/testing";
import type { Tables } from "./database.ts";
import { createBuildsDatabase } from "./testing/fixture.ts";

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
    assert.deepEqual(await liveColumns(database), typedColumns(columns));
  } finally {
    await database.drop();
  }
});
