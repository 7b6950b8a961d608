import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { account, faultOf, staff, velocity } from "@svc/mesh/testing";
import { ownership as contracts, servers as serverContracts } from "@svc/proto";
import { annotation, servers } from "../cluster/resource.ts";
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

const { create, sql, rowOf, ownerOf, specOf, auditsOf, untilAudited } = createOwnershipOperations(
  () => fixture,
);

describe("giving up and deleting", () => {
  const retire = (name: string, who = staff, more: { confirm?: string; delete?: boolean } = {}) =>
    fixture.external.call(contracts.retire, { name, confirm: name, ...more }, who);
  const cancel = (name: string, who = staff) =>
    fixture.external.call(contracts.cancelRetirement, { name }, who);
  const owner = account("usr-1");

  test("a running server that its owner gives up is stopped, and neither woken nor claimed", async () => {
    await create("given-up", { autostartPolicy: "public" });
    await sql("update lifecycle.servers set owner_id = 'usr-1' where name = 'given-up'");
    await fixture.external.call(serverContracts.wake, { name: "given-up" }, owner);
    const { retiring } = await retire("given-up", owner);
    assert.equal(retiring.delete, false);
    assert.equal((await specOf("given-up")).desiredState, "Stopped");
    await sql("update lifecycle.servers set last_wake_at = null where name = 'given-up'");
    assert.equal(
      await faultOf(fixture.external.call(serverContracts.wake, { name: "given-up" }, owner)),
      "server_retiring",
    );
    await untilAudited("server.release", "given-up");
    assert.equal(await ownerOf("given-up"), "usr-1");
    assert.deepEqual(await retire("given-up", owner), { name: "given-up", retiring });
    assert.equal((await auditsOf("server.release", "given-up")).length, 1);
  });

  test("staff turn it into a deletion, which keeps its time and which the owner cannot cancel", async () => {
    const first = (await rowOf("given-up"))["retire_requested_at"] as Date;
    assert.equal(await faultOf(retire("given-up", owner, { delete: true })), "forbidden");
    const deletion = { name: "given-up", retiring: { requested_at: first.toISOString(), delete: true } };
    assert.deepEqual(await retire("given-up", staff, { delete: true }), deletion);
    assert.deepEqual(await retire("given-up", owner), deletion);
    await untilAudited("server.delete", "given-up");
    assert.equal(await faultOf(cancel("given-up", owner)), "forbidden");
    assert.equal(await cancel("given-up", staff), null);
    await untilAudited("server.retire_cancel", "given-up");
    assert.equal((await rowOf("given-up"))["retire_requested_at"], null);
    assert.equal((await specOf("given-up")).desiredState, "Stopped");
    assert.equal(await cancel("given-up", owner), null);
  });

  const refusals: [fact: string, call: () => Promise<unknown>, fault: string][] = [
    [
      "another name as confirmation",
      () => retire("given-up", owner, { confirm: "given-in" }),
      "confirm_mismatch",
    ],
    ["somebody else's server", () => retire("given-up", account("usr-2")), "forbidden"],
    ["calling off what is somebody else's", () => cancel("given-up", account("usr-2")), "forbidden"],
    ["the lobby", () => retire("lobby"), "system_server"],
    ["calling off the lobby's", () => cancel("lobby"), "system_server"],
    ["the login gate, that is not here", () => retire("login"), "system_server"],
    ["a name that is none", () => retire("admin"), "bad_name"],
    ["a server that does not exist", () => retire("nobody-here"), "not_found"],
    ["calling off what does not exist", () => cancel("nobody-here"), "not_found"],
  ];
  test("what cannot be given up is refused with its own fault", async () => {
    for (const [fact, call, fault] of refusals) assert.equal(await faultOf(call()), fault, fact);
  });

  test("a server that is exempt from the reaper is not given up", async () => {
    await create("exempt-one");
    const merge = { spec: { reaperExempt: true } };
    await fixture.kube.patch(servers, { name: "exempt-one", namespace }, { merge });
    assert.equal(await faultOf(retire("exempt-one")), "system_server");
  });

  test("a row whose object is gone is given up only when no volume is left", async () => {
    await sql("insert into lifecycle.servers (name) values ('gone-one'), ('gone-two')");
    await fixture.kube.create(resources.claims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "world-gone-one-0", namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    assert.equal(await faultOf(retire("gone-one")), "world_volume_orphaned");
    assert.equal((await rowOf("gone-one"))["retire_requested_at"], null);
    assert.equal((await retire("gone-two", staff, { delete: true })).retiring.delete, true);
  });

  test("a retirement is not cancelled while the reaper works on the world", async () => {
    await create("in-work");
    await retire("in-work");
    const annotations = { [annotation.maintenance]: `reap@${new Date().toISOString()}` };
    await fixture.kube.patch(
      servers,
      { name: "in-work", namespace },
      { merge: { metadata: { annotations } } },
    );
    assert.equal(await faultOf(cancel("in-work")), "world_reclaiming");
    assert.notEqual((await rowOf("in-work"))["retire_requested_at"], null);
  });

  test("a concurrent wake and retirement leave the server stopped", async () => {
    for (let round = 0; round < 15; round++) {
      const name = `contested-${round}`;
      await create(name, { autostartPolicy: "public" });
      const player = randomUUID();
      const wake = fixture.internal.call(serverContracts.wakeForPlayer, { name, mc_uuid: player }, velocity);
      const [woken] = await Promise.all([faultOf(wake), retire(name)]);
      assert.ok(["none", "server_retiring"].includes(woken), woken);
      assert.equal((await specOf(name)).desiredState, "Stopped", `round ${round}: ${woken}`);
    }
  });

  test("a name that a deletion has not freed yet cannot be created, one of a leftover row without an owner can", async () => {
    assert.equal(await faultOf(create("gone-two")), "name_taken");
    await sql(
      "insert into lifecycle.servers (name, owner_id) values ('gone-three', 'usr-1'), ('gone-four', null)",
    );
    assert.equal(await faultOf(create("gone-three")), "name_taken");
    await sql("insert into lifecycle.server_allowlist (server_name, mc_uuid) values ('gone-four', $1)", [
      randomUUID(),
    ]);
    await create("gone-four");
    assert.deepEqual(
      await sql("select 1 from lifecycle.server_allowlist where server_name = 'gone-four'"),
      [],
    );
  });
});
