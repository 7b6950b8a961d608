import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { faultOf } from "@svc/mesh/testing";
import { ownership as contracts } from "@svc/proto";
import { servers } from "../cluster/resource.ts";
import { noLimits } from "../testing/fake-services.ts";
import { namespace } from "../testing/fixture.ts";
import {
  createOwnershipOperations,
  type OwnershipFixture,
  openOwnershipFixture,
} from "../testing/ownership-operations.ts";

let fixture: OwnershipFixture;
before(async () => {
  fixture = await openOwnershipFixture();
});
after(() => fixture.close());

const { create, createAll, sql, rowOf, ownerOf } = createOwnershipOperations(() => fixture);

describe("requests of identity", () => {
  test("a deleted account loses its servers, their worlds stay, their allowlists are emptied", async () => {
    await createAll("orphan", 2);
    await sql(
      "update lifecycle.servers set owner_id = 'usr-gone', last_active_at = '2020-01-01' where name like 'orphan-%'",
    );
    await sql("insert into lifecycle.server_allowlist (server_name, mc_uuid) values ('orphan-0', $1)", [
      randomUUID(),
    ]);
    const release = () => fixture.identity.call(contracts.releaseAccount, { user_id: "usr-gone" });
    assert.deepEqual(await release(), { released: ["orphan-0", "orphan-1"] });
    assert.deepEqual(await release(), { released: [] });
    assert.equal(await ownerOf("orphan-0"), null);
    assert.ok(((await rowOf("orphan-0"))["last_active_at"] as Date).getTime() > Date.now() - 60_000);
    assert.deepEqual(
      await sql("select 1 from lifecycle.server_allowlist where server_name = 'orphan-0'"),
      [],
    );
    assert.ok(await fixture.kube.find(servers, { name: "orphan-0", namespace }));
  });

  const transfer = (transfer_id: string, max_servers: number | null) =>
    fixture.identity.call(contracts.transferAccount, {
      transfer_id,
      from_user_id: "usr-old",
      to_user_id: "usr-new",
      limits: { ...noLimits, max_servers },
    });

  test("all servers of an account are transferred or none, and a repeat gets the first answer", async () => {
    await createAll("moving", 3);
    await sql("update lifecycle.servers set owner_id = 'usr-old' where name like 'moving-%'");
    assert.equal(await faultOf(transfer("mig-1", 2)), "migrate_quota_exceeded");
    assert.equal(await ownerOf("moving-0"), "usr-old");
    const servers = ["moving-0", "moving-1", "moving-2"];
    const answers = await Promise.all([1, 2, 3, 4].map(() => transfer("mig-1", 3)));
    for (const answer of answers) assert.deepEqual(answer, { servers });
    for (const name of servers) assert.equal(await ownerOf(name), "usr-new");
    const events = await sql(
      "select 1 from lifecycle.outbox where subject like 'svc.evt.lifecycle.server.transferred.moving-%'",
    );
    assert.equal(events.length, 3);
  });

  test("a repeated transfer does not take servers that the account has claimed since", async () => {
    await create("later-one");
    await sql("update lifecycle.servers set owner_id = 'usr-old' where name = 'later-one'");
    assert.deepEqual(await transfer("mig-1", 3), { servers: ["moving-0", "moving-1", "moving-2"] });
    assert.equal(await ownerOf("later-one"), "usr-old");
  });

  test("an account does not transfer its servers to itself", async () => {
    const to_user_id = "usr-old";
    const about = { transfer_id: "mig-3", from_user_id: "usr-old", to_user_id, limits: noLimits };
    assert.equal(await faultOf(fixture.identity.call(contracts.transferAccount, about)), "bad_request");
  });

  test("an account without servers transfers none, also to one at its quota", async () => {
    const answer = await fixture.identity.call(contracts.transferAccount, {
      transfer_id: "mig-2",
      from_user_id: "usr-without",
      to_user_id: "usr-new",
      limits: { ...noLimits, max_servers: 0 },
    });
    assert.deepEqual(answer, { servers: [] });
  });
});
