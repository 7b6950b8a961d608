import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { account, faultOf, retryAfterOf, staff, until } from "@svc/mesh/testing";
import { servers as contracts } from "@svc/proto";
import { annotation, servers } from "../cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";
import { createServerOperations, noImage, operationSettings } from "../testing/server-operations.ts";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start(operationSettings);
});
after(() => fixture.close());

const { create, wakeFor, wake, getServer, read, phase, annotate, sql, setOwner, endCooldown, untilAudited } =
  createServerOperations(() => fixture);

describe("waking for a player", () => {
  const player = randomUUID();

  test("a public server wakes for anybody, also while identity is away", async () => {
    await create({ name: "open-door", autostartPolicy: "public" });
    fixture.people.isAway = true;
    const answer = await wakeFor("open-door", player).finally(() => {
      fixture.people.isAway = false;
    });
    assert.equal(answer.desiredState, "Running");
    await until(async () => (await phase("open-door")) === "Starting");
    await untilAudited("server.wake", "open-door");
  });

  test("a second wake of a running server after the cooldown gets the same answer", async () => {
    assert.equal(await faultOf(wakeFor("open-door", player)), "cooldown");
    await endCooldown("open-door");
    assert.equal(await faultOf(wakeFor("open-door", player)), "none");
    assert.equal(await faultOf(wakeFor("open-door", player)), "none");
  });

  test("an ownerOnly server wakes for its owner and for staff", async () => {
    await create({ name: "owned-one" });
    await setOwner("owned-one", "usr-1");
    assert.equal(await faultOf(wakeFor("owned-one", player)), "forbidden");
    fixture.people.links.set(player, { user_id: "usr-2", role: "user" });
    assert.equal(await faultOf(wakeFor("owned-one", player)), "forbidden");
    fixture.people.links.set(player, { user_id: "usr-1", role: "user" });
    assert.equal(await faultOf(wakeFor("owned-one", player)), "none");
    const admin = randomUUID();
    fixture.people.links.set(admin, { user_id: "usr-9", role: "admin" });
    await create({ name: "owned-two" });
    assert.equal(await faultOf(wakeFor("owned-two", admin)), "none");
  });

  test("an allowlist admits players who are on it and not revoked", async () => {
    const [listed, revoked] = [randomUUID(), randomUUID()];
    await create({ name: "listed-one", autostartPolicy: "allowlist" });
    const add =
      "insert into lifecycle.server_allowlist (server_name, mc_uuid, revoked_at) values ('listed-one', $1, $2)";
    await sql(add, [listed, null]);
    await sql(add, [revoked, new Date()]);
    assert.equal(await faultOf(wakeFor("listed-one", randomUUID())), "forbidden");
    assert.equal(await faultOf(wakeFor("listed-one", revoked)), "forbidden");
    assert.equal(await faultOf(wakeFor("listed-one", listed)), "none");
  });

  test("a wake by somebody who may not is forbidden also during the cooldown", async () => {
    await fixture.kube.patch(
      servers,
      { name: "listed-one", namespace },
      { merge: { spec: { desiredState: "Stopped" } } },
    );
    await until(async () => (await read("listed-one")).desiredState === "Stopped");
    assert.equal(await faultOf(wakeFor("listed-one", randomUUID())), "forbidden");
  });

  test("a second wake within 30 s is refused with the seconds left", async () => {
    const owner = account("usr-staff", "owner");
    const seconds = await retryAfterOf(wake("listed-one", owner));
    assert.ok(seconds !== undefined && seconds > 0 && seconds <= 30, `${seconds}`);
    await endCooldown("listed-one");
    assert.equal(await faultOf(wake("listed-one", owner)), "none");
  });

  test("of concurrent wakes one is recorded and the others find the server running or in its cooldown", async () => {
    await create({ name: "rushed", autostartPolicy: "public" });
    const results = await Promise.all(Array.from({ length: 8 }, () => faultOf(wakeFor("rushed", player))));
    assert.ok(results.includes("none"));
    assert.ok(
      results.every((result) => result === "none" || result === "cooldown"),
      results.join(),
    );
    await untilAudited("server.wake", "rushed");
    const entries = (await fixture.audits()).filter(
      (e) => e.action === "server.wake" && e.server_name === "rushed",
    );
    assert.equal(entries.length, 1);
  });

  const states: [fact: string, prepare: (name: string) => Promise<unknown>, fault: string][] = [
    [
      "is being given up",
      (name) => sql("update lifecycle.servers set retire_requested_at = now() where name = $1", [name]),
      "server_retiring",
    ],
    [
      "is archived by the reaper",
      (name) => annotate(name, { [annotation.maintenance]: `reap@${new Date().toISOString()}` }),
      "world_reclaiming",
    ],
    [
      "is held by a restore",
      (name) => annotate(name, { [annotation.maintenance]: `restore@${new Date().toISOString()}` }),
      "maintenance_in_progress",
    ],
    [
      "has a lock that nobody refreshed for two minutes",
      (name) =>
        annotate(name, {
          [annotation.maintenance]: `restore@${new Date(Date.now() - 121_000).toISOString()}`,
        }),
      "none",
    ],
    [
      "is held by a migration that began long ago",
      (name) => annotate(name, { [annotation.maintenance]: "migration@2026-01-01T00:00:00Z" }),
      "maintenance_in_progress",
    ],
  ];
  for (const [index, [fact, prepare, fault]] of states.entries()) {
    test(`a server that ${fact}: ${fault === "none" ? "wakes" : fault}, and a refusal costs no cooldown`, async () => {
      const name = `state-${index}`;
      await create({ name, autostartPolicy: "public" });
      await prepare(name);
      await until(async () => (await faultOf(wakeFor(name, player))) === fault);
      const [row] = await sql("select last_wake_at from lifecycle.servers where name = $1", [name]);
      assert.equal(row?.["last_wake_at"] === null, fault !== "none");
    });
  }

  test("a running backup locks the world until its Job is done", async () => {
    await create({ name: "backed-up", autostartPolicy: "public" });
    const labels = { "svc.internal/server": "backed-up", "app.kubernetes.io/managed-by": "svc-backup" };
    const container = { name: "main", image: noImage };
    await fixture.kube.create(resources.jobs, {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "backup-1", namespace, labels },
      spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } },
    });
    assert.equal(await faultOf(wakeFor("backed-up", player)), "maintenance_in_progress");
    await fixture.kube.remove(
      resources.jobs,
      { name: "backup-1", namespace },
      { propagationPolicy: "Background" },
    );
    await until(async () => (await faultOf(wakeFor("backed-up", player))) === "none");
  });

  test("a join never resets a spent budget of restarts, the owner's wake does", async () => {
    await create({ name: "gave-up", autostartPolicy: "public" });
    await fixture.kube.patch(
      servers,
      { name: "gave-up", namespace },
      { merge: { spec: { storage: { size: "bad" }, desiredState: "Running" } } },
    );
    await until(async () => (await phase("gave-up")) === "Failed");
    assert.equal((await read("gave-up")).startGaveUp, true);
    assert.equal(await faultOf(wakeFor("gave-up", player)), "start_failed");
    assert.equal(await faultOf(wake("gave-up")), "none");
    await untilAudited("retry_start", "gave-up");
  });

  test("a join does not touch a failed start that will be retried automatically", async () => {
    await create({ name: "backing-off", autostartPolicy: "public" });
    const spec = { desiredState: "Running", startup: { timeoutSeconds: 1 } };
    await fixture.kube.patch(servers, { name: "backing-off", namespace }, { merge: { spec } });
    await until(async () => (await phase("backing-off")) === "Failed");
    const answer = await wakeFor("backing-off", player);
    assert.deepEqual([answer.phase, answer.ready], ["Failed", false]);
    assert.equal((await getServer("backing-off")).metadata.annotations?.[annotation.startRetry], undefined);
  });

  test("the capacity counts servers whose desired state is Running", async () => {
    const wanting = (await fixture.kube.list(servers, { namespace })).items.filter(
      (s) => s.spec.desiredState === "Running",
    );
    for (let count = wanting.length; count < 12; count++) {
      await create({ name: `filler-${count}`, autostartPolicy: "public" });
      assert.equal(await faultOf(wakeFor(`filler-${count}`, player)), "none");
    }
    await create({ name: "one-more", autostartPolicy: "public" });
    assert.equal(await faultOf(wakeFor("one-more", player)), "at_capacity");
    const running = (await fixture.kube.list(servers, { namespace })).items.filter(
      (s) => s.spec.desiredState === "Running",
    );
    for (const { metadata } of running) {
      const merge = { spec: { desiredState: "Stopped" } };
      await fixture.kube.patch(servers, { name: metadata.name, namespace }, { merge });
    }
  });

  test("a malformed name is bad_name, an unknown one not_found", async () => {
    assert.equal(await faultOf(wakeFor("-x-", player)), "bad_name");
    assert.equal(await faultOf(wakeFor("nobody-here", player)), "not_found");
    assert.equal(await faultOf(read("nobody-here")), "not_found");
  });
});

describe("waking and stopping on the external face", () => {
  test("login and lobby are bad names here", async () => {
    assert.equal(await faultOf(wake("lobby")), "bad_name");
    assert.equal(await faultOf(fixture.external.call(contracts.stop, { name: "login" }, staff)), "bad_name");
  });

  test("the owner may wake and stop, others only what the policy allows", async () => {
    await create({ name: "web-one" });
    await setOwner("web-one", "usr-5");
    assert.equal(await faultOf(wake("web-one", account("usr-6"))), "forbidden");
    assert.equal(await faultOf(wake("web-one", account("usr-5"))), "none");
    assert.equal(
      await faultOf(fixture.external.call(contracts.stop, { name: "web-one" }, account("usr-6"))),
      "forbidden",
    );
    const stopped = await fixture.external.call(contracts.stop, { name: "web-one" }, account("usr-5"));
    assert.deepEqual(stopped, { name: "web-one", desiredState: "Stopped" });
    await untilAudited("server.stop", "web-one");
    await until(async () => (await phase("web-one")) === "Stopped");
  });

  test("an allowlist is checked for the linked players of an account", async () => {
    const linked = randomUUID();
    fixture.people.links.set(linked, { user_id: "usr-7", role: "user" });
    await create({ name: "web-two", autostartPolicy: "allowlist" });
    assert.equal(await faultOf(wake("web-two", account("usr-7"))), "forbidden");
    await sql("insert into lifecycle.server_allowlist (server_name, mc_uuid) values ('web-two', $1)", [
      linked,
    ]);
    assert.equal(await faultOf(wake("web-two", account("usr-7"))), "none");
  });
});
