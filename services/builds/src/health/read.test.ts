import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Context } from "@svc/mesh";
import type { buildsHealth } from "@svc/proto";
import type { Store } from "@svc/store";
import type { TestDatabase } from "@svc/store/testing";
import type { Tables } from "../database.ts";
import { createBuildsDatabase } from "../testing/fixture.ts";
import { createReadHealth } from "./read.ts";

const hour = 3_600_000;
const now = Date.now();
const ago = (hours: number) => new Date(now - hours * hour);

let database: TestDatabase;
let store: Store<Tables>;
before(async () => {
  database = await createBuildsDatabase();
  store = database.open<Tables>();
});
after(async () => {
  await store?.close();
  await database?.drop();
});

const read = () =>
  createReadHealth({ db: store.db, now: () => now })({} as Context<typeof buildsHealth.readBuildsHealth>, {});

test("tells builds that failed within six hours, and how old the scanner's database was", async () => {
  assert.deepEqual(await read(), { failed: 0 });
  const builds = [
    ["a", "failed", 1],
    ["b", "failed", 2],
    ["c", "failed", 7],
    ["d", "cancelled", 1],
  ] as const;
  for (const [name, status, hours] of builds) {
    const about = { image_ref: `packs/${name}:1`, context_ref: "", requested_by: "usr-1" };
    const id = name.repeat(32);
    await store.db
      .insertInto("image_builds")
      .values({ id, ...about, status, error: `step ${name}`, finished_at: ago(hours) })
      .execute();
    const database_at = ago(hours + 100).toISOString();
    await database.admin(
      "insert into builds.image_build_scans (build_id, blocked, summary, scanned_at) values ($1, false, $2, $3)",
      [id, JSON.stringify(name === "a" ? {} : { database_at }), ago(hours)],
    );
  }
  assert.deepEqual(await read(), {
    failed: 2,
    newest_failure: { id: "a".repeat(32), error: "step a", finished_at: ago(1).toISOString() },
    newest_scan: { scanned_at: ago(1).toISOString(), database_at: ago(101).toISOString() },
  });
});
