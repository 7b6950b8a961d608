import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Tables } from "../database.ts";
import { createBuildsDatabase } from "../testing/fixture.ts";
import { createBuild } from "./create.ts";
import { toBuild } from "./row.ts";

const database = await createBuildsDatabase();
const store = database.open<Tables>();
const { db } = store;

after(async () => {
  await store.close();
  await database.drop();
});

const contextRef = "http://svc/api/v1/internal/submissions/sub-1/context";
const imageRef = "registry.test:5000/packs/a:1";

test("a new build is pending and shows what was asked, without what was not", async () => {
  const request = { imageRef, contextRef, requestedBy: "amelia" };
  const build = toBuild(await db.transaction().execute((trx) => createBuild(trx, request)));
  assert.match(build.id, /^[0-9a-f]{32}$/);
  const { id, created_at, ...shown } = build;
  assert.deepEqual(shown, {
    image_ref: imageRef,
    context_ref: contextRef,
    status: "pending",
    requested_by: "amelia",
  });
});

test("a build whose transaction ends without a commit was never asked for", async () => {
  const before = await db.selectFrom("image_builds").select("id").execute();
  const aborted = db.transaction().execute(async (trx) => {
    await createBuild(trx, { imageRef, contextRef, requestedBy: "amelia" });
    throw new Error("rolled back");
  });
  await assert.rejects(aborted, /rolled back/);
  assert.deepEqual(await db.selectFrom("image_builds").select("id").execute(), before);
});
