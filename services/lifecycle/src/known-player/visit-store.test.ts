import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openStore } from "@svc/store";
import { createTestDatabase, type TestDatabase } from "@svc/store/testing";
import { createLogger } from "@svc/telemetry";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { createVisitStore } from "./visit-store.ts";

let database: TestDatabase;
let store: LifecycleStore;
before(async () => {
  const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));
  database = await createTestDatabase({ schema: "lifecycle", migrations });
  const log = createLogger("lifecycle", "silent");
  store = openStore<Tables>({ url: database.url, schema: "lifecycle", poolSize: 2, log });
  await database.admin(
    "insert into lifecycle.servers (name, created_at) values ('alpha', '2020-01-01'), ('beta', '2020-01-01')",
  );
});
after(async () => {
  await store.close();
  await database.drop();
});

test("players are forgotten by age, by number for each server, and with their server", async () => {
  const visits = createVisitStore(store);
  const someone = (server: string, number: number) => ({
    ...{ mc_uuid: randomUUID(), name: `p${number}`, server, number, ms: 1_000 },
  });
  const all = Array.from({ length: 5 }, (_, index) => someone("alpha", index + 1));
  assert.equal(await visits.count("one", [...all, someone("beta", 6)]), 6);
  await database.admin(
    "update lifecycle.known_players set last_seen = now() - substr(name, 2)::int * interval '1 day'",
  );
  const names = async () => {
    const rows = await database.admin("select name from lifecycle.known_players order by name");
    return rows.map(({ name }) => name);
  };
  const day = 86_400_000;
  assert.equal(await visits.sweep({ keepMs: 5.5 * day, mostPlayers: 3 }), 3);
  assert.deepEqual(await names(), ["p1", "p2", "p3"]);
  await database.admin("update lifecycle.servers set deleted_at = now() where name = 'alpha'");
  assert.equal(await visits.sweep({ keepMs: 400 * day, mostPlayers: 3 }), 3);
  assert.deepEqual(await names(), []);
});
