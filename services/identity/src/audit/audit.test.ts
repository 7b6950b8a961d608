import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { AuditEntry } from "@svc/proto";
import { type Fixture, startFixture } from "../testing/fixture.ts";
import { saveEntry, toRow } from "./store.ts";

const entry = AuditEntry.parse({
  id: "e-1",
  at: "2026-01-01T00:00:00.000Z",
  actor: "notch",
  action: "file.write",
  source: "external",
});

test("an invalid address is left out instead of losing the entry", () => {
  assert.equal(toRow({ ...entry, client_ip: "2001:db8::1" }).client_ip, "2001:db8::1");
  for (const client_ip of ["nonsense", "fe80::1%eth0", ""])
    assert.equal(toRow({ ...entry, client_ip }).client_ip, null);
});

describe("the audit log", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());
  const rowsOf = (id: string) =>
    fixture.database.admin("select * from identity.audit_logs where entry_id = $1", [id]);

  test("stores what other services publish", async () => {
    const person = await fixture.person();
    fixture.lifecycle.audit({
      id: "from-lifecycle",
      actor: "notch",
      actor_user_id: person.userId,
      client_ip: "192.0.2.9",
      user_agent: "browser",
      action: "schedule.create",
      server_name: "survival",
      request_id: "r-1",
      payload: { label: "nightly" },
      source: "external",
    });
    await until(async () => (await rowsOf("from-lifecycle")).length === 1);
    const [row] = await rowsOf("from-lifecycle");
    assert.deepEqual(
      [row?.["actor_user_id"], row?.["client_ip"], row?.["server_name"], row?.["payload"]],
      [person.userId, "192.0.2.9", "survival", { label: "nightly" }],
    );
  });

  test("stores an entry once, however often it is delivered", async () => {
    await saveEntry(fixture.store.db, { ...entry, id: "twice" });
    await saveEntry(fixture.store.db, { ...entry, id: "twice" });
    assert.equal((await rowsOf("twice")).length, 1);
  });

  test("stores the name of an actor whose account is unknown", async () => {
    await saveEntry(fixture.store.db, { ...entry, id: "gone", actor_user_id: "nobody" });
    const [row] = await rowsOf("gone");
    assert.deepEqual([row?.["actor"], row?.["actor_user_id"]], ["notch", null]);
  });

  test("stores texts that PostgreSQL cannot hold unchanged", async () => {
    const text = "a\u0000b\ud800";
    await saveEntry(fixture.store.db, {
      ...entry,
      id: "odd",
      actor: text,
      user_agent: text,
      payload: { [text]: text, list: [text] },
    });
    const [row] = await rowsOf("odd");
    assert.equal(row?.["actor"], "ab\ufffd");
    assert.equal(JSON.stringify(row?.["payload"]).includes("\\u0000"), false);
  });

  test("catches up with what was published while the database was down", async () => {
    await fixture.wire.cut();
    fixture.lifecycle.audit({ id: "waited", actor: "notch", action: "schedule.run", source: "scheduler" });
    await until(
      async () => (await fixture.metric('svc_mesh_redeliveries_total{durable="identity-audit"}')) > 0,
    );
    await fixture.wire.recover();
    await until(async () => (await rowsOf("waited")).length === 1, 15_000);
  });
});
