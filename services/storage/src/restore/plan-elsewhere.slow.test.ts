import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { account, staff, until } from "@svc/mesh/testing";
import { backups, restorePlans } from "@svc/proto";
import { type MoveFixture, openMoveFixture } from "../testing/move/fixture.ts";

describe("the plan of a restore of a world on a node without the archive folder", () => {
  let fixture: MoveFixture;
  before(async () => {
    fixture = await openMoveFixture("shipped");
    await fixture.addNodeClaim("archive-elsewhere", "local-2");
    await fixture.start(["storage.archive_claim=archive-elsewhere"]);
    await fixture.addWorld("survival", { "level.dat": "one", gone: "gone" });
  });
  after(() => fixture?.close());

  test("compares with the archive that is sent there, and the ticket is used up", async () => {
    const { external, database } = fixture.base;
    await external.call(backups.create, { name: "survival" }, staff);
    const page = { server: "survival", limit: 1, offset: 0 };
    await until(async () => (await external.call(backups.list, page, staff)).backups.length > 0, 30_000);
    await fixture.writeTo("world-survival-0", { "level.dat": "longer", added: "since" });
    const before = await fixture.filesOf("world-survival-0");
    const plan = await external.call(restorePlans.plan, { name: "survival" }, account("usr-1"));
    assert.deepEqual(
      plan.files.map(({ change, path: file }) => `${change} ${file}`),
      ["removed added", "changed level.dat"],
    );
    assert.equal(plan.same, 1);
    assert.deepEqual(await fixture.filesOf("world-survival-0"), before);
    const tickets = await database.admin(
      "select used_at from storage.archive_tickets where kind = 'get' and job like 'plan-%'",
    );
    assert.deepEqual([tickets.length, tickets[0]?.["used_at"] !== null], [1, true]);
  });
});
