// Requests of storage for world operations and the reaper, on real servers.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { worlds as contracts, ownership, servers as serverContracts } from "@svc/proto";
import { annotation, label, type Server, servers } from "../cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";
import { aServer } from "../testing/observed.ts";
import { isAtRest } from "./world-server.ts";

describe("nothing of a run is left", () => {
  const at = (
    desiredState: "Running" | "Stopped",
    phase: "Stopped" | "Stopping",
    observedGeneration?: number,
  ): Server => ({
    ...aServer({ desiredState }, { generation: 3 }),
    status: { phase, ...(observedGeneration !== undefined && { observedGeneration }) },
  });
  const rows: [fact: string, server: Server | undefined, hasPod: boolean, isSo: boolean][] = [
    ["of a server that is stopped and was seen so", at("Stopped", "Stopped", 3), false, true],
    ["of a server whose object is gone", undefined, false, true],
    ["is not said while there is a pod", at("Stopped", "Stopped", 3), true, false],
    ["is not said of a gone server while there is a pod", undefined, true, false],
    ["is not said of one that is to run", at("Running", "Stopped", 3), false, false],
    ["is not said of one that is stopping", at("Stopped", "Stopping", 3), false, false],
    ["is not said while a start that was taken back was not seen", at("Stopped", "Stopped", 2), false, false],
    ["is not said of one that no pass has seen", at("Stopped", "Stopped"), false, false],
  ];
  for (const [fact, server, hasPod, isSo] of rows) {
    test(fact, () => assert.equal(isAtRest(server, hasPod), isSo));
  }
});

describe("on real servers", () => {
  const noImage = "svc.local/nothing:1";
  let fixture: Fixture;
  let storage: Mesh;
  before(async () => {
    fixture = await openFixture();
    await fixture.start(["lifecycle.list_page=3", "lifecycle.crash_mail_interval=100ms"]);
    storage = await fixture.nats.connect("storage");
  });
  after(async () => {
    await storage.drain(500);
    await fixture.close();
  });

  const create = (name: string) =>
    fixture.external.call(serverContracts.create, { name, subdomain: name, image: noImage }, staff);
  const sql = (text: string, values: unknown[] = []) => fixture.database.admin(text, values);
  const own = (name: string, owner: string) =>
    sql("update lifecycle.servers set owner_id = $2, claimed_at = now() where name = $1", [name, owner]);
  const rowOf = async (name: string) => {
    const [row] = await sql("select * from lifecycle.servers where name = $1", [name]);
    assert.ok(row, `${name} has a row`);
    return row;
  };
  const specOf = async (name: string) => (await fixture.kube.get(servers, { name, namespace })).spec;
  const describeServer = (name: string) => storage.call(contracts.describeServer, { name });
  const hold = (name: string) => storage.call(contracts.holdWorld, { name });
  const wake = (name: string) => fixture.external.call(serverContracts.wake, { name }, staff);
  const rest = (name: string) => until(async () => (await describeServer(name)).stopped);
  const release = (name: string, outcome: "reclaimed" | "released" | "deleted", owner_id?: string) =>
    storage.call(contracts.releaseWorld, { name, outcome, ...(owner_id && { owner_id }) });

  test("a server is described as stored in cluster and database", async () => {
    await create("told");
    await own("told", "usr-1");
    await sql(
      "update lifecycle.servers set last_active_at = '2026-01-01T00:00:00Z', warned_3d_at = '2026-01-02T00:00:00Z' where name = 'told'",
    );
    await rest("told");
    const { claimed_at, node_name, ...received } = await describeServer("told");
    assert.ok(claimed_at);
    assert.match(node_name ?? "", /^local-/);
    assert.deepEqual(received, {
      name: "told",
      exists: true,
      owner_id: "usr-1",
      last_active_at: "2026-01-01T00:00:00.000Z",
      warned_3d_at: "2026-01-02T00:00:00.000Z",
      reaper_exempt: false,
      system: false,
      phase: "Stopped",
      desired_state: "Stopped",
      stopped: true,
      volume_claim: "world-told-0",
    });
    assert.equal(await faultOf(describeServer("nobody-here")), "not_found");
  });

  test("the last good start is one without a crash soon after, and the rests since then are told", async () => {
    await create("proven");
    const lastStart = () => storage.call(contracts.readLastStart, { name: "proven" });
    await rest("proven");
    assert.deepEqual(await lastStart(), { rests: [] });
    await sql("delete from lifecycle.server_phases where server_name = 'proven'");
    const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();
    const phases = Object.entries({
      ...{ 0: "Starting", 1: "Running", 60: "Stopped", 70: "Starting", 71: "Running" },
      ...{ 80: "Starting", 81: "Running", 90: "Stopped" },
    });
    for (const [minutes, phase] of phases)
      await sql("insert into lifecycle.server_phases values ('proven', $1, $2, false, null)", [
        at(Number(minutes)),
        phase,
      ]);
    const crash = (minutes: number) =>
      sql(
        `insert into lifecycle.server_crashes (id, server_name, run, at, cause, ran_seconds, was_running, lines)
          values (gen_random_uuid(), 'proven', $1, $2::timestamptz, 'unknown', 1, true, '{}')`,
        [at(minutes), at(minutes)],
      );
    assert.deepEqual(await lastStart(), { ready_at: at(81), rests: [{ from: at(90) }] });
    await crash(82);
    // That of minute 71 ended nine minutes later.
    await crash(80);
    assert.deepEqual(await lastStart(), {
      ready_at: at(1),
      rests: [{ from: at(60), to: at(70) }, { from: at(90) }].reverse(),
    });
    await crash(10);
    assert.deepEqual(await lastStart(), { rests: [] });
  });

  test("a mail about a crash waits for identity, is sent once, and not to who owned the server before", async () => {
    for (const name of ["crashed", "given-away"]) {
      await create(name);
      await own(name, "usr-1");
    }
    const { people } = fixture;
    people.isAway = true;
    const queue = (name: string, owner: string, age = "0 s") =>
      sql(
        `insert into lifecycle.crash_notices (id, server_name, owner_id, kind, cause, at, created_at)
          values (gen_random_uuid(), $1, $2, 'stopped', 'eula', '2026-01-01T00:00:00Z', now() - $3::interval)`,
        [name, owner, age],
      );
    await queue("crashed", "usr-1");
    await queue("given-away", "usr-0");
    const rows = (name: string) =>
      sql("select attempts, done_at from lifecycle.crash_notices where server_name = $1", [name]);
    await until(async () => Number((await rows("crashed"))[0]?.["attempts"]) > 0);
    people.isAway = false;
    await sql("update lifecycle.crash_notices set due_at = now()");
    await until(() => people.mailed.length > 0);
    for (const name of ["crashed", "given-away"])
      await until(async () => (await rows(name))[0]?.["done_at"] !== null);
    const facts = { server: "crashed", cause: "eula", at: "2026-01-01T00:00:00.000Z" };
    assert.deepEqual(people.mailed, [{ user_id: "usr-1", kind: "server-crashed", facts }]);
    await queue("crashed", "usr-1", "25 hours");
    await queue("given-away", "usr-1", "8 days");
    await until(async () => (await rows("crashed")).every(({ done_at }) => done_at !== null));
    await until(async () => (await rows("given-away")).length === 1);
    assert.equal(people.mailed.length, 1, "what is old is no news");
  });

  test("holding a world stops the server, which is at rest once its pod is gone", async () => {
    await create("busy");
    await wake("busy");
    await until(
      async () => (await fixture.kube.find(resources.pods, { name: "busy-0", namespace })) !== undefined,
    );
    assert.equal((await describeServer("busy")).stopped, false);
    assert.deepEqual(await hold("busy"), { stopped: false });
    assert.equal((await specOf("busy")).desiredState, "Stopped");
    await until(async () => (await hold("busy")).stopped);
    assert.equal(await fixture.kube.find(resources.pods, { name: "busy-0", namespace }), undefined);
    assert.equal(await faultOf(hold("nobody-here")), "not_found");
  });

  test("no pod appears after a server was reported at rest, however fast wakes and holds alternate", async () => {
    await create("hurried");
    await rest("hurried");
    for (let round = 0; round < 10; round++) {
      await sql("update lifecycle.servers set last_wake_at = null where name = 'hurried'");
      await wake("hurried");
      await until(async () => (await hold("hurried")).stopped, 20_000);
      const set = await fixture.kube.find(resources.statefulSets, { name: "hurried", namespace });
      assert.equal(set?.spec.replicas ?? 0, 0, `round ${round}`);
    }
  });

  test("a server is resumed without cooldown, and not while it is locked or retiring", async () => {
    const resume = () => storage.call(contracts.resumeServer, { name: "busy" });
    const lock = (value: string | null) =>
      fixture.kube.patch(
        servers,
        { name: "busy", namespace },
        { merge: { metadata: { annotations: { [annotation.maintenance]: value } } } },
      );
    await lock(`restore@${new Date().toISOString()}`);
    await until(async () => (await faultOf(resume())) === "maintenance_in_progress");
    await lock(null);
    await sql("update lifecycle.servers set last_wake_at = now() where name = 'busy'");
    await until(async () => (await faultOf(resume())) === "none");
    assert.equal((await specOf("busy")).desiredState, "Running");
    assert.equal(await resume(), null);
    await until(async () => (await hold("busy")).stopped);
    await sql("update lifecycle.servers set retire_requested_at = now() where name = 'busy'");
    assert.equal(await faultOf(resume()), "server_retiring");
    assert.equal(await faultOf(storage.call(contracts.resumeServer, { name: "nobody-here" })), "not_found");
  });

  test("a reclaimed world leaves a server without owner, warnings, allowlist and retirement", async () => {
    await create("idle-one");
    await own("idle-one", "usr-1");
    await sql("insert into lifecycle.server_allowlist (server_name, mc_uuid) values ('idle-one', $1)", [
      randomUUID(),
    ]);
    await sql(
      "update lifecycle.servers set last_active_at = '2020-01-01', warned_1d_at = now(), retire_requested_at = now() where name = 'idle-one'",
    );
    assert.deepEqual(await release("idle-one", "reclaimed", "usr-1"), { done: true });
    const row = await rowOf("idle-one");
    const gone = [
      "owner_id",
      "claimed_at",
      "warned_3d_at",
      "warned_1d_at",
      "retire_requested_at",
      "deleted_at",
    ];
    assert.deepEqual(
      gone.map((column) => row[column]),
      gone.map(() => null),
    );
    assert.ok((row["last_active_at"] as Date).getTime() > Date.now() - 60_000);
    assert.deepEqual(
      await sql("select 1 from lifecycle.server_allowlist where server_name = 'idle-one'"),
      [],
    );
    assert.deepEqual(await release("idle-one", "reclaimed", "usr-1"), { done: true });
    assert.ok(await fixture.kube.find(servers, { name: "idle-one", namespace }));
  });

  const auditsOf = async (name: string) =>
    (await fixture.audits())
      .filter(({ server_name, source }) => server_name === name && source === "internal:storage")
      .map(({ actor, action, payload }) => `${actor} ${action} ${payload["owner_id"]}`);

  test("a release and its audit entry are one, and a repeat adds none", async () => {
    assert.deepEqual(await auditsOf("idle-one"), ["reaper world.reclaim usr-1"]);
  });

  test("a world that has a new owner is left alone", async () => {
    await own("idle-one", "usr-2");
    for (const outcome of ["reclaimed", "released", "deleted"] as const) {
      assert.deepEqual(await release("idle-one", outcome, "usr-1"), { done: false });
      assert.deepEqual(await release("idle-one", outcome), { done: false });
    }
    assert.equal((await rowOf("idle-one"))["owner_id"], "usr-2");
  });

  test("a cancelled deletion removes nothing", async () => {
    assert.deepEqual(await release("idle-one", "deleted", "usr-2"), { done: false });
    assert.ok(await fixture.kube.find(servers, { name: "idle-one", namespace }));
  });

  test("a deletion removes object, row and names, a repeat gets the same answer, and the name is free", async () => {
    await fixture.external.call(
      ownership.retire,
      { name: "idle-one", confirm: "idle-one", delete: true },
      staff,
    );
    assert.deepEqual(await release("idle-one", "deleted", "usr-2"), { done: true });
    await until(
      async () => (await fixture.kube.find(servers, { name: "idle-one", namespace })) === undefined,
    );
    assert.deepEqual(await release("idle-one", "deleted", "usr-2"), { done: true });
    assert.deepEqual((await auditsOf("idle-one")).slice(1), ["reaper world.delete usr-2"]);
    assert.deepEqual(await sql("select 1 from lifecycle.server_aliases where server_name = 'idle-one'"), []);
    assert.equal(await faultOf(describeServer("idle-one")), "not_found");
    assert.equal(
      await faultOf(fixture.external.call(ownership.listAllowlist, { name: "idle-one" }, account("usr-2"))),
      "not_found",
    );
    await until(async () => (await faultOf(create("idle-one"))) === "none");
    assert.equal((await describeServer("idle-one")).owner_id, undefined);
    assert.deepEqual(await release("idle-one", "deleted", "usr-2"), { done: false });
  });

  test("a deletion that died after the object was removed is completed", async () => {
    await create("half-gone");
    await fixture.external.call(
      ownership.retire,
      { name: "half-gone", confirm: "half-gone", delete: true },
      staff,
    );
    await fixture.kube.remove(servers, { name: "half-gone", namespace });
    assert.equal((await describeServer("half-gone")).exists, false);
    assert.deepEqual(await release("half-gone", "deleted"), { done: true });
    assert.equal(await faultOf(describeServer("half-gone")), "not_found");
  });

  test("warnings are stamped, and only a server without owner gets a new idle clock", async () => {
    await create("warned");
    await own("warned", "usr-1");
    const at = "2026-01-05T00:00:00.000Z";
    await storage.call(contracts.stampWarning, { name: "warned", window: "3d", at });
    assert.equal((await describeServer("warned")).warned_3d_at, at);
    await sql("update lifecycle.servers set last_active_at = $1 where name = 'warned'", [at]);
    const restart = () => storage.call(contracts.restartIdleClock, { name: "warned" });
    await restart();
    assert.equal((await describeServer("warned")).last_active_at, at);
    await sql("update lifecycle.servers set owner_id = null where name = 'warned'");
    await restart();
    const { last_active_at, warned_3d_at } = await describeServer("warned");
    assert.ok(Date.parse(last_active_at) > Date.now() - 60_000);
    assert.equal(warned_3d_at, undefined);
    const unknown = { name: "nobody-here" };
    assert.equal(await faultOf(storage.call(contracts.restartIdleClock, unknown)), "not_found");
    assert.equal(
      await faultOf(storage.call(contracts.stampWarning, { ...unknown, window: "1d", at })),
      "not_found",
    );
  });

  test("the list has every server and every row whose object is gone, in pages by name", async () => {
    await sql("insert into lifecycle.servers (name) values ('aaa-left'), ('zzz-left')");
    const metadata = { name: "lobby", namespace, labels: { [label.systemRole]: "lobby" } };
    const head = { apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer", metadata };
    await fixture.kube.create(servers, { ...head, spec: { subdomain: "lobby", image: noImage } });
    const all = async () => {
      const items = [];
      let cursor: string | undefined;
      do {
        const page = await storage.call(contracts.listWorlds, cursor === undefined ? {} : { cursor });
        assert.ok(page.items.length <= 3);
        items.push(...page.items);
        cursor = page.next;
      } while (cursor !== undefined);
      return items;
    };
    await until(async () => (await all()).some(({ name }) => name === "lobby"));
    const items = await all();
    const names = items.map(({ name }) => name);
    assert.deepEqual(names, [...new Set(names)].sort());
    const rows = await sql("select name from lifecycle.servers where deleted_at is null");
    assert.deepEqual(new Set(names), new Set([...rows.map(({ name }) => String(name)), "lobby"]));
    const of = (name: string) => items.find((item) => item.name === name);
    assert.deepEqual(
      [of("zzz-left")?.exists, of("told")?.exists, of("told")?.owner_id],
      [false, true, "usr-1"],
    );
    assert.deepEqual([of("lobby")?.system, of("lobby")?.reaper_exempt], [true, true]);
  });
});
