import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { account, faultOf, retryAfterOf, staff, velocity } from "@svc/mesh/testing";
import { servers as contracts, type InputOf, type ServerInfo } from "@svc/proto";
import { until } from "../../../libs/mesh/src/testing.ts";
import { annotation, type Server, servers } from "./cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "./testing/fixture.ts";

// An image that the cluster does not have: the pod waits, and costs nothing.
const noImage = "svc.local/nothing:1";
const overrides = ["lifecycle.stop_notice=300ms", "lifecycle.max_running_servers=12"];

let stage: Fixture;
before(async () => {
  stage = await openFixture();
  await stage.start(overrides);
});
after(() => stage.close());

type CreateInput = InputOf<typeof contracts.create>;
const create = (input: Partial<CreateInput> & { name: string }) =>
  stage.external.call(contracts.create, { subdomain: input.name, image: noImage, ...input }, staff);
const wakeFor = (name: string, mc_uuid: string) =>
  stage.internal.call(contracts.wakeForPlayer, { name, mc_uuid }, velocity);
const wake = (name: string, who = staff) => stage.external.call(contracts.wake, { name }, who);
const patch = (name: string, changes: Partial<InputOf<typeof contracts.patch>>) =>
  stage.external.call(contracts.patch, { name, ...changes }, staff);
const getServer = (name: string) => stage.kube.get(servers, { name, namespace });
const read = (name: string) => stage.internal.call(contracts.readStatus, { name }, velocity);
const phase = async (name: string) => (await read(name)).phase;
const annotate = (name: string, values: Record<string, string | null>) =>
  stage.kube.patch(servers, { name, namespace }, { merge: { metadata: { annotations: values } } });
const setStatus = (name: string, status: Partial<NonNullable<Server["status"]>>) =>
  stage.kube.patch(servers, { name, namespace }, { merge: { status }, subresource: "status" });
const sql = (text: string, values: unknown[] = []) => stage.database.admin(text, values);
const own = (name: string, owner: string) =>
  sql("update lifecycle.servers set owner_id = $2 where name = $1", [name, owner]);
const rest = (name: string) =>
  sql("update lifecycle.servers set last_wake_at = null where name = $1", [name]);
const audited = (action: string, name: string) =>
  until(async () =>
    (await stage.audits()).some((entry) => entry.action === action && entry.server_name === name),
  );

describe("creating a server", () => {
  test("a server is made stopped on a node with room, with RCON on, ten idle minutes and a heap with a reserve", async () => {
    const made = await stage.external.call(
      contracts.create,
      { name: "plain", subdomain: "plain-world" },
      staff,
    );
    assert.deepEqual(made, { name: "plain", subdomain: "plain-world", desiredState: "Stopped" });
    const { nodeName, ...spec } = (await getServer("plain")).spec;
    assert.match(nodeName ?? "", /^local-[12]$/);
    assert.deepEqual(spec, {
      subdomain: "plain-world",
      image: "svc.local/demo-server:1.21.4",
      desiredState: "Stopped",
      autostartPolicy: "ownerOnly",
      fallbackServer: "login",
      resources: { limits: { memory: "2Gi" }, requests: { memory: "2Gi" } },
      javaMemory: "1536M",
      rcon: { enabled: true, port: 25_575, secretRef: { name: "plain-rcon", key: "password" } },
      storage: { size: "8Gi" },
      idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 },
    });
    await until(async () => (await phase("plain")) === "Stopped");
    const [row] = await sql(
      "select cached_memory_mb, cached_storage_mb, owner_id from lifecycle.servers where name = 'plain'",
    );
    assert.deepEqual(row, { cached_memory_mb: 2048, cached_storage_mb: 8192, owner_id: null });
    await audited("server.create", "plain");
  });

  const refusals: [fact: string, input: Partial<CreateInput> & { name: string }, fault: string][] = [
    ["a node nobody approved", { name: "x1", nodeName: "elsewhere" }, "bad_node"],
    ["a name with a capital", { name: "Upper" }, "bad_name"],
    ["a reserved name", { name: "lobby" }, "bad_name"],
    ["a subdomain with a dot", { name: "fine1", subdomain: "a.b" }, "bad_subdomain"],
    ["a display name with a line break", { name: "fine1", displayName: "a\nb" }, "bad_display_name"],
    ["a display name of 65 letters", { name: "fine1", displayName: "x".repeat(65) }, "bad_display_name"],
    ["an idle time of a second", { name: "fine1", idleStopSeconds: 1 }, "bad_idle_stop"],
    ["no memory at all", { name: "fine1", memory: "0" }, "bad_request"],
    ["a storage that is no quantity", { name: "fine1", storage: "big" }, "bad_request"],
    [
      "a request above its limit",
      { name: "fine1", memory: "1Gi", resources: { memoryRequest: "2Gi" } },
      "bad_request",
    ],
    [
      "an image that is not on the list",
      { name: "fine1", image: "elsewhere/image:1" },
      "image_not_whitelisted",
    ],
  ];
  for (const [fact, input, fault] of refusals) {
    test(`${fact} is refused as ${fault}`, async () => assert.equal(await faultOf(create(input)), fault));
  }

  test("a refused creation leaves nothing behind", async () => {
    assert.deepEqual(await sql("select name from lifecycle.servers where name in ('fine1', 'x1')"), []);
  });

  test("a name and a subdomain belong to one server only", async () => {
    await create({ name: "first" });
    assert.equal(await faultOf(create({ name: "first", subdomain: "other" })), "name_taken");
    assert.equal(await faultOf(create({ name: "second", subdomain: "first" })), "subdomain_taken");
    assert.deepEqual(await sql("select name from lifecycle.servers where name = 'second'"), []);
  });

  test("of the same creations made at once one succeeds", async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => faultOf(create({ name: "raced" }))));
    assert.equal(results.filter((result) => result === "none").length, 1);
    assert.ok(results.every((result) => result === "none" || result === "name_taken"));
  });

  test("a creation tells its first fault: names before sizes, sizes before the image", async () => {
    const wrong = { name: "Upper", subdomain: "-", displayName: "a\nb", memory: "0", image: "elsewhere:1" };
    const mended: [Partial<CreateInput>, string][] = [
      [{ nodeName: "elsewhere" }, "bad_node"],
      [{}, "bad_name"],
      [{ name: "ordered" }, "bad_subdomain"],
      [{ name: "ordered", subdomain: "first" }, "bad_display_name"],
      [{ name: "ordered", subdomain: "first", displayName: "Fine" }, "bad_request"],
      [{ name: "ordered", subdomain: "first", displayName: "Fine", memory: "1Gi" }, "image_not_whitelisted"],
      [
        { name: "ordered", subdomain: "first", displayName: "Fine", memory: "1Gi", image: noImage },
        "subdomain_taken",
      ],
      [
        { name: "first", subdomain: "fine", displayName: "Fine", memory: "1Gi", image: noImage },
        "name_taken",
      ],
    ];
    for (const [input, fault] of mended) assert.equal(await faultOf(create({ ...wrong, ...input })), fault);
  });

  test("of creations of one name with other subdomains the alias is that of the object", async () => {
    const results = await Promise.all(
      [1, 2, 3, 4].map((n) => faultOf(create({ name: "aliased", subdomain: `aliased-${n}` }))),
    );
    assert.equal(results.filter((result) => result === "none").length, 1, results.join());
    const aliases = await sql("select subdomain from lifecycle.server_aliases where server_name = 'aliased'");
    assert.deepEqual(aliases, [{ subdomain: (await getServer("aliased")).spec.subdomain }]);
  });

  test("a world that was left over is not mounted by accident", async () => {
    await stage.kube.create(resources.claims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "world-leftover-0", namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    assert.equal(await faultOf(create({ name: "leftover" })), "world_volume_exists");
  });

  test("rows whose object was never made are completed by the next creation", async () => {
    await sql("insert into lifecycle.servers (name) values ('halfway')");
    await sql(
      "insert into lifecycle.server_aliases (subdomain, server_name) values ('halfway-old', 'halfway')",
    );
    await create({ name: "halfway", subdomain: "halfway-new" });
    const aliases = await sql("select subdomain from lifecycle.server_aliases where server_name = 'halfway'");
    assert.deepEqual(aliases, [{ subdomain: "halfway-new" }]);
  });
});

describe("waking for a player", () => {
  const player = randomUUID();

  test("a public server wakes for anybody, also while accounts cannot be read", async () => {
    await create({ name: "open-door", autostartPolicy: "public" });
    stage.people.isAway = true;
    const answer = await wakeFor("open-door", player).finally(() => {
      stage.people.isAway = false;
    });
    assert.equal(answer.desiredState, "Running");
    await until(async () => (await phase("open-door")) === "Starting");
    await audited("server.wake", "open-door");
  });

  test("a server that is awake answers a second wake as the first once the cooldown is over", async () => {
    assert.equal(await faultOf(wakeFor("open-door", player)), "cooldown");
    await rest("open-door");
    assert.equal(await faultOf(wakeFor("open-door", player)), "none");
    assert.equal(await faultOf(wakeFor("open-door", player)), "none");
  });

  test("a server of its owner alone wakes for the owner and for staff", async () => {
    await create({ name: "owned-one" });
    await own("owned-one", "usr-1");
    assert.equal(await faultOf(wakeFor("owned-one", player)), "forbidden");
    stage.people.links.set(player, { user_id: "usr-2", role: "user" });
    assert.equal(await faultOf(wakeFor("owned-one", player)), "forbidden");
    stage.people.links.set(player, { user_id: "usr-1", role: "user" });
    assert.equal(await faultOf(wakeFor("owned-one", player)), "none");
    const admin = randomUUID();
    stage.people.links.set(admin, { user_id: "usr-9", role: "admin" });
    await create({ name: "owned-two" });
    assert.equal(await faultOf(wakeFor("owned-two", admin)), "none");
  });

  test("an allowlist lets in who is on it and was not revoked", async () => {
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

  test("who may not wake is told so although the cooldown runs", async () => {
    await stage.kube.patch(
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
    await rest("listed-one");
    assert.equal(await faultOf(wake("listed-one", owner)), "none");
  });

  test("of wakes made at once one is recorded and the others find the server awake or cooling down", async () => {
    await create({ name: "rushed", autostartPolicy: "public" });
    const results = await Promise.all(Array.from({ length: 8 }, () => faultOf(wakeFor("rushed", player))));
    assert.ok(results.includes("none"));
    assert.ok(
      results.every((result) => result === "none" || result === "cooldown"),
      results.join(),
    );
    await audited("server.wake", "rushed");
    const entries = (await stage.audits()).filter(
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

  test("a running backup holds the world until its Job is done", async () => {
    await create({ name: "backed-up", autostartPolicy: "public" });
    const labels = { "svc.internal/server": "backed-up", "app.kubernetes.io/managed-by": "svc-backup" };
    const container = { name: "main", image: noImage };
    await stage.kube.create(resources.jobs, {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "backup-1", namespace, labels },
      spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } },
    });
    assert.equal(await faultOf(wakeFor("backed-up", player)), "maintenance_in_progress");
    await stage.kube.remove(
      resources.jobs,
      { name: "backup-1", namespace },
      { propagationPolicy: "Background" },
    );
    await until(async () => (await faultOf(wakeFor("backed-up", player))) === "none");
  });

  test("a join never resets a spent budget, its owner's wake does", async () => {
    await create({ name: "gave-up", autostartPolicy: "public" });
    await stage.kube.patch(
      servers,
      { name: "gave-up", namespace },
      { merge: { spec: { storage: { size: "bad" }, desiredState: "Running" } } },
    );
    await until(async () => (await phase("gave-up")) === "Failed");
    assert.equal((await read("gave-up")).startGaveUp, true);
    assert.equal(await faultOf(wakeFor("gave-up", player)), "start_failed");
    assert.equal(await faultOf(wake("gave-up")), "none");
    await audited("retry_start", "gave-up");
  });

  test("a join leaves a failed start alone that will be tried again by itself", async () => {
    await create({ name: "backing-off", autostartPolicy: "public" });
    const spec = { desiredState: "Running", startup: { timeoutSeconds: 1 } };
    await stage.kube.patch(servers, { name: "backing-off", namespace }, { merge: { spec } });
    await until(async () => (await phase("backing-off")) === "Failed");
    const answer = await wakeFor("backing-off", player);
    assert.deepEqual([answer.phase, answer.ready], ["Failed", false]);
    assert.equal((await getServer("backing-off")).metadata.annotations?.[annotation.startRetry], undefined);
  });

  test("the cap counts servers that want to run", async () => {
    const wanting = (await stage.kube.list(servers, { namespace })).items.filter(
      (s) => s.spec.desiredState === "Running",
    );
    for (let count = wanting.length; count < 12; count++) {
      await create({ name: `filler-${count}`, autostartPolicy: "public" });
      assert.equal(await faultOf(wakeFor(`filler-${count}`, player)), "none");
    }
    await create({ name: "one-more", autostartPolicy: "public" });
    assert.equal(await faultOf(wakeFor("one-more", player)), "at_capacity");
    const running = (await stage.kube.list(servers, { namespace })).items.filter(
      (s) => s.spec.desiredState === "Running",
    );
    for (const { metadata } of running) {
      const merge = { spec: { desiredState: "Stopped" } };
      await stage.kube.patch(servers, { name: metadata.name, namespace }, { merge });
    }
  });

  test("a malformed name is bad_name, an unknown one not_found", async () => {
    assert.equal(await faultOf(wakeFor("-x-", player)), "bad_name");
    assert.equal(await faultOf(wakeFor("nobody-here", player)), "not_found");
    assert.equal(await faultOf(read("nobody-here")), "not_found");
  });
});

describe("waking and stopping on the web", () => {
  test("login and lobby are no names here", async () => {
    assert.equal(await faultOf(wake("lobby")), "bad_name");
    assert.equal(await faultOf(stage.external.call(contracts.stop, { name: "login" }, staff)), "bad_name");
  });

  test("the owner may wake and stop, others only what the policy gives them", async () => {
    await create({ name: "web-one" });
    await own("web-one", "usr-5");
    assert.equal(await faultOf(wake("web-one", account("usr-6"))), "forbidden");
    assert.equal(await faultOf(wake("web-one", account("usr-5"))), "none");
    assert.equal(
      await faultOf(stage.external.call(contracts.stop, { name: "web-one" }, account("usr-6"))),
      "forbidden",
    );
    const stopped = await stage.external.call(contracts.stop, { name: "web-one" }, account("usr-5"));
    assert.deepEqual(stopped, { name: "web-one", desiredState: "Stopped" });
    await audited("server.stop", "web-one");
    await until(async () => (await phase("web-one")) === "Stopped");
  });

  test("an allowlist is looked up by the players an account is linked to", async () => {
    const linked = randomUUID();
    stage.people.links.set(linked, { user_id: "usr-7", role: "user" });
    await create({ name: "web-two", autostartPolicy: "allowlist" });
    assert.equal(await faultOf(wake("web-two", account("usr-7"))), "forbidden");
    await sql("insert into lifecycle.server_allowlist (server_name, mc_uuid) values ('web-two', $1)", [
      linked,
    ]);
    assert.equal(await faultOf(wake("web-two", account("usr-7"))), "none");
  });
});

describe("reading", () => {
  test("a stranger sees seven fields, the owner and staff see all, and who is retiring", async () => {
    await create({ name: "seen", displayName: "Seen" });
    await own("seen", "usr-1");
    await until(async () => (await phase("seen")) === "Stopped");
    await sql(
      "update lifecycle.servers set retire_requested_at = now(), retire_delete = true where name = 'seen'",
    );
    const view = (who = staff) => stage.external.call(contracts.viewStatus, { name: "seen" }, who);
    assert.deepEqual(await view(account("usr-8")), {
      name: "seen",
      subdomain: "seen",
      displayName: "Seen",
      phase: "Stopped",
      ready: false,
      playersOnline: 0,
      playersMax: 0,
    });
    const full = (await view(account("usr-1"))) as ServerInfo;
    assert.equal(full.retiring?.delete, true);
    assert.equal(full.idleStopSeconds, 600);
    assert.equal(full.endpointMode, "fallback");
    assert.equal("retiring" in (await read("seen")), false);
    assert.equal(
      await faultOf(stage.external.call(contracts.viewStatus, { name: "nobody-here" }, staff)),
      "not_found",
    );
  });

  test("the fleet knows owners, and says so when it cannot ask", async () => {
    const rowOf = async (name: string) => {
      const { items } = await stage.external.call(contracts.fleet, {}, account("usr-1", "admin"));
      return items.find((item) => item.name === name);
    };
    const seen = await rowOf("seen");
    assert.deepEqual([seen?.owned, seen?.claimable, seen?.owner], [true, false, "usr-1@example.org"]);
    assert.equal(seen?.ownerPlayer, undefined);
    const player = randomUUID();
    stage.people.links.set(player, { user_id: "usr-1", role: "user" });
    const joined = { name: "seen", mc_uuid: player, player_name: "Alice" };
    await stage.internal.call(contracts.reportJoin, joined, velocity);
    assert.equal((await rowOf("seen"))?.ownerPlayer, "Alice");
    const plain = await rowOf("plain");
    assert.deepEqual([plain?.owned, plain?.claimable, plain?.owner], [false, true, undefined]);
    stage.people.isAway = true;
    const unknown = await rowOf("seen").finally(() => {
      stage.people.isAway = false;
    });
    assert.deepEqual([unknown?.owner, unknown?.ownerUnknown], [undefined, true]);
  });

  test("the list and the view hold the same servers", async () => {
    const { items, next } = await stage.internal.call(contracts.list, {}, velocity);
    assert.equal(next, undefined);
    const mirror = stage.internal.mirrorView(contracts.servers);
    await until(() => mirror.ready && mirror.size === items.length);
    assert.deepEqual(
      items.map(({ name }) => name),
      [...items].map(({ name }) => name).sort(),
    );
    await mirror.close();
  });

  test("readiness needs the database and the cluster", async () => {
    assert.deepEqual(await stage.internal.call(contracts.ready, {}), { status: "ready" });
  });
});

describe("changing a server", () => {
  before(async () => {
    await create({ name: "changed", memory: "2Gi", resources: { cpu: "2", cpuRequest: "500m" } });
  });

  test("only what is named changes", async () => {
    const answer = await patch("changed", { displayName: "  New name ", autostartPolicy: "public" });
    assert.deepEqual(answer, { name: "changed", patched: ["displayName", "autostartPolicy"] });
    const { spec } = await getServer("changed");
    assert.equal(spec.displayName, "New name");
    assert.equal(spec.autostartPolicy, "public");
    assert.equal(spec.javaMemory, "1536M");
    await patch("changed", { displayName: "" });
    assert.equal((await getServer("changed")).spec.displayName, undefined);
  });

  test("memory sets limit and request, and the heap follows", async () => {
    await patch("changed", { memory: "8Gi" });
    const { spec } = await getServer("changed");
    assert.deepEqual(spec.resources, {
      limits: { memory: "8Gi", cpu: "2" },
      requests: { memory: "8Gi", cpu: "500m" },
    });
    assert.equal(spec.javaMemory, "6144M");
    const [row] = await sql(
      "select cached_memory_mb, cached_cpu_milli from lifecycle.servers where name = 'changed'",
    );
    assert.deepEqual(row, { cached_memory_mb: 8192, cached_cpu_milli: 2000 });
  });

  test("an empty text takes a CPU value away, memory cannot be taken away", async () => {
    await patch("changed", { resources: { cpu: "", cpuRequest: "" } });
    assert.deepEqual((await getServer("changed")).spec.resources?.limits, { memory: "8Gi" });
    assert.equal(await faultOf(patch("changed", { resources: { memory: "" } })), "bad_request");
    assert.equal(await faultOf(patch("changed", { resources: { memoryRequest: "9Gi" } })), "bad_request");
  });

  test("idle stop off keeps its seconds", async () => {
    await patch("changed", { idleStopSeconds: 120 });
    await patch("changed", { idleStopSeconds: 0 });
    assert.deepEqual((await getServer("changed")).spec.idle, {
      autoStopEnabled: false,
      emptySecondsBeforeStop: 120,
    });
    assert.equal(await faultOf(patch("changed", { idleStopSeconds: 59 })), "bad_idle_stop");
  });

  test("an image changes only when that is confirmed, and the log has both", async () => {
    assert.equal(
      await faultOf(patch("changed", { image: "svc.local/nothing:2" })),
      "image_change_unconfirmed",
    );
    assert.equal(
      await faultOf(patch("changed", { image: "elsewhere:1", confirmImageChange: true })),
      "image_not_whitelisted",
    );
    await patch("changed", { image: "svc.local/nothing:2", confirmImageChange: true });
    const entry = (await stage.audits()).find(({ payload }) => payload["image_to"] === "svc.local/nothing:2");
    assert.equal(entry?.payload["image_from"], noImage);
    assert.equal(await faultOf(patch("changed", { image: "svc.local/nothing:2" })), "none");
  });

  test("an image is stored as its pin: the same pin is no change, a tag that moved is one", async () => {
    const [old, fresh] = [`sha256:${"a".repeat(64)}`, `sha256:${"b".repeat(64)}`];
    const tag = "svc.local/nothing:pinned";
    stage.library.pins.set(tag, old);
    await create({ name: "pinned", image: tag });
    assert.equal((await getServer("pinned")).spec.image, `${tag}@${old}`);
    assert.equal(await faultOf(patch("pinned", { image: tag })), "none");
    assert.equal(await faultOf(patch("pinned", { image: `${tag}@${old}` })), "none");
    stage.library.pins.set(tag, fresh);
    assert.equal(await faultOf(patch("pinned", { image: tag })), "image_change_unconfirmed");
    assert.equal((await getServer("pinned")).spec.image, `${tag}@${old}`);
    await patch("pinned", { image: tag, confirmImageChange: true });
    assert.equal((await getServer("pinned")).spec.image, `${tag}@${fresh}`);
  });

  test("without the registry no image is taken on faith, and everything else goes on", async () => {
    stage.library.isAway = true;
    const image = "svc.local/nothing:3";
    const answers = await Promise.all([
      faultOf(create({ name: "no-registry" })),
      faultOf(patch("pinned", { image, confirmImageChange: true })),
      faultOf(patch("pinned", { displayName: "Pinned" })),
    ]).finally(() => {
      stage.library.isAway = false;
    });
    assert.deepEqual(answers, ["registry_unavailable", "registry_unavailable", "none"]);
  });

  test("the storage never changes, an empty change is refused", async () => {
    assert.equal(await faultOf(patch("changed", { storage: "16Gi" })), "storage_immutable");
    assert.equal(await faultOf(patch("changed", {})), "bad_request");
    assert.equal(await faultOf(patch("changed", { confirmImageChange: true })), "bad_request");
    assert.equal(await faultOf(patch("nobody-here", { memory: "1Gi" })), "not_found");
    assert.equal(await faultOf(patch("lobby", { memory: "1Gi" })), "bad_name");
  });
});

describe("reports of the proxy", () => {
  test("a join refreshes activity, clears warnings and adds the player once", async () => {
    const player = randomUUID();
    await create({ name: "joined" });
    await sql(
      "update lifecycle.servers set last_active_at = '2020-01-01', warned_3d_at = now() where name = 'joined'",
    );
    const join = () =>
      stage.internal.call(contracts.reportJoin, { name: "joined", mc_uuid: player }, velocity);
    await join();
    const [row] = await sql(
      "select last_active_at > now() - interval '1 minute' as fresh, warned_3d_at from lifecycle.servers where name = 'joined'",
    );
    assert.deepEqual(row, { fresh: true, warned_3d_at: null });
    await sql("update lifecycle.server_allowlist set revoked_at = now() where server_name = 'joined'");
    await join();
    const list = await sql(
      "select revoked_at is null as may_wake from lifecycle.server_allowlist where server_name = 'joined'",
    );
    assert.deepEqual(list, [{ may_wake: false }]);
    assert.equal(
      await faultOf(
        stage.internal.call(contracts.reportJoin, { name: "nobody-here", mc_uuid: player }, velocity),
      ),
      "not_found",
    );
  });

  test("a ready report is only written down", async () => {
    assert.equal(await stage.internal.call(contracts.reportReady, { name: "joined" }, velocity), null);
    await audited("server.ready", "joined");
  });
});

test("a phase that changed is in its row and in the outbox", async () => {
  await create({ name: "followed" });
  await until(async () => {
    const [row] = await sql("select cached_phase from lifecycle.servers where name = 'followed'");
    return row?.["cached_phase"] === "Stopped";
  });
  const events = await sql(
    "select body from lifecycle.outbox where subject = 'svc.evt.lifecycle.server.phase-changed.followed'",
  );
  assert.deepEqual(
    events.map(({ body }) => JSON.parse(String(body)).to),
    ["Stopped"],
  );
});

test("an object that was applied by hand gets its rows", async () => {
  const spec = { subdomain: "by-hand", image: noImage };
  await stage.kube.create(servers, {
    apiVersion: "svc.internal/v1alpha1",
    kind: "MinecraftServer",
    metadata: { name: "by-hand", namespace },
    spec,
  });
  await until(
    async () =>
      (await sql("select 1 from lifecycle.server_aliases where server_name = 'by-hand'")).length === 1,
  );
});

test("the service changes nothing that its Role does not give it", async () => {
  // Every step above ran with the rights of deploy/rbac; a right that lacks shows as a pass that failed.
  await setStatus("plain", { phase: "Unknown" });
  await until(async () => (await phase("plain")) === "Stopped");
});
