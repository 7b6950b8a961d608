import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { faultOf, staff, until } from "@svc/mesh/testing";
import { clones as contracts, Fault, type InputOf, origins, servers } from "@svc/proto";
import { maintenanceAnnotation } from "@svc/world-lock";
import { annotation, servers as resource } from "../cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";
import { createServerOperations, operationSettings } from "../testing/server-operations.ts";

let fixture: Fixture;
let closeStorage: (() => Promise<unknown>) | undefined;
let refusal: "no_backup" | "not_stopped" | undefined;
before(async () => {
  fixture = await openFixture();
  const storage = await fixture.nats.connect("storage");
  closeStorage = () => storage.drain(500);
  storage.serve(origins.choose, (_context, { is_new, backup_id }) => {
    if (refusal) throw new Fault(refusal);
    return is_new ? {} : { backup_id: backup_id ?? "bk-newest" };
  });
  await storage.announce();
  await fixture.start(operationSettings);
  await create({ name: "source", image: "svc.local/demo-server:1.21.4", autostartPolicy: "allowlist" });
  const merge = { spec: { env: [{ name: "TOKEN", value: "x" }], tags: [{ name: "event", colour: "blue" }] } };
  await fixture.kube.patch(resource, { name: "source", namespace }, { merge } as never);
  await until(async () => (await phase("source")) === "Stopped");
});
after(async () => {
  await closeStorage?.();
  await fixture.close();
});

const { create, getServer, phase, sql, untilAudited, wake, wakeFor } = createServerOperations(() => fixture);
type Input = Partial<InputOf<typeof contracts.create>> & { as: string };
const clone = (input: Input, who: typeof staff = staff) =>
  fixture.external.call(
    contracts.create,
    { name: "source", world: "none", allowlist: false, claimable: false, ...input },
    who,
  );
const ordersOf = async (name: string) =>
  (await sql("select body from lifecycle.outbox where subject like '%clone.ordered.%'"))
    .map(({ body }) => JSON.parse(String(body)) as Record<string, unknown>)
    .filter((order) => order["name"] === name);

describe("cloning a server", () => {
  test("without a world it is a stopped server with the settings of the source and names of its own", async () => {
    assert.deepEqual(await clone({ as: "bare" }), {
      ...{ name: "bare", subdomain: "bare", source: "source", desiredState: "Stopped" },
      ...{ world: "none", left_out: ["env"] },
    });
    const { spec, metadata } = await getServer("bare");
    assert.deepEqual(
      [spec.image, spec.autostartPolicy, spec.tags, spec.env, spec.rcon?.secretRef?.name],
      [
        "svc.local/demo-server:1.21.4",
        "allowlist",
        [{ name: "event", colour: "blue" }],
        undefined,
        "bare-rcon",
      ],
    );
    assert.equal(metadata.annotations?.[maintenanceAnnotation], undefined);
    assert.deepEqual(await ordersOf("bare"), []);
    const [row] = await sql("select owner_id, offered from lifecycle.servers where name = 'bare'");
    assert.deepEqual(row, { owner_id: null, offered: false });
    await untilAudited("server.clone", "bare");
    await untilAudited("server.cloned", "source");
  });

  test("with a world it cannot be woken before that is there, by nobody", async () => {
    const made = await clone({ as: "copy", world: "newest_backup" });
    assert.deepEqual([made.world, made.backup_id], ["copying", "bk-newest"]);
    const { metadata } = await getServer("copy");
    const order = JSON.parse(metadata.annotations?.[annotation.clone] ?? "{}") as contracts.CloneOrder;
    assert.equal(metadata.annotations?.[maintenanceAnnotation], order.lock);
    assert.deepEqual([order.source, order.backup_id], ["source", "bk-newest"]);
    await until(async () => (await phase("copy")) === "Stopped");
    assert.equal(await faultOf(wake("copy")), "maintenance_in_progress");
    const merge = { spec: { desiredState: "Running" } };
    await fixture.kube.patch(resource, { name: "copy", namespace }, { merge });
    const reason = async () =>
      (await getServer("copy")).status?.conditions?.find(({ type }) => type === "Ready")?.reason;
    await until(async () => (await reason()) === "MaintenanceInProgress");
    assert.equal(await fixture.kube.find(resources.pods, { name: "copy-0", namespace }), undefined);
  });

  test("an object whose rows were never written gets them, and its order goes out again", async () => {
    const order = {
      ...{ id: "id-orphan", source: "source", backup_id: "bk-1", by: "usr-staff" },
      ...{ lock: "migration@2026-01-01T00:00:00.000Z", at: "2026-01-01T00:00:00.000Z" },
    };
    const annotations = {
      [annotation.clone]: JSON.stringify(order),
      [maintenanceAnnotation]: order.lock,
      [annotation.offered]: "false",
    };
    await fixture.kube.create(resource, {
      apiVersion: "svc.internal/v1alpha1",
      kind: "MinecraftServer",
      metadata: { name: "orphan", namespace, annotations },
      spec: { subdomain: "orphan", image: "svc.local/nothing:1", desiredState: "Stopped" },
    });
    await until(async () => (await ordersOf("orphan")).length > 0, 20_000);
    assert.deepEqual(await ordersOf("orphan"), [{ ...order, name: "orphan" }]);
    const [row] = await sql("select owner_id, offered from lifecycle.servers where name = 'orphan'");
    assert.deepEqual(row, { owner_id: null, offered: false });
  });

  test("the allowlist comes along only when asked for, and without those who lost the right", async () => {
    const [friend, foe] = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
    await sql(
      "insert into lifecycle.server_allowlist (server_name, mc_uuid, revoked_at) values ('source', $1, null), ('source', $2, now())",
      [friend, foe],
    );
    await clone({ as: "closed" });
    await clone({ as: "friendly", allowlist: true });
    for (const name of ["closed", "friendly"]) await until(async () => (await phase(name)) === "Stopped");
    assert.equal(await faultOf(wakeFor("closed", friend)), "forbidden");
    assert.equal(await faultOf(wakeFor("friendly", foe)), "forbidden");
    assert.equal(await faultOf(wakeFor("friendly", friend)), "none");
  });

  test("it counts against the quota of the owner it is made for", async () => {
    fixture.people.limits.set("usr-full", {
      ...{ max_servers: 0, max_cpu_milli: null, max_memory_mb: null, max_storage_gb: null },
    });
    assert.equal(await faultOf(clone({ as: "full", owner: "usr-full" })), "quota_exceeded");
    await clone({ as: "owned", owner: "usr-2" });
    const [row] = await sql("select owner_id, offered from lifecycle.servers where name = 'owned'");
    assert.deepEqual(row, { owner_id: "usr-2", offered: false });
  });

  const refusals: [fact: string, input: Input & { name?: string }, fault: string][] = [
    ["a source that is not there", { as: "xone", name: "nowhere" }, "not_found"],
    ["a source of the platform", { as: "xone", name: "lobby" }, "bad_name"],
    ["a name with a capital", { as: "Upper" }, "bad_name"],
    ["the name of the source", { as: "source", subdomain: "other" }, "name_taken"],
    ["the subdomain of the source", { as: "xone", subdomain: "source" }, "subdomain_taken"],
    ["a node nobody approved", { as: "xone", nodeName: "elsewhere" }, "bad_node"],
    ["a display name with a line break", { as: "xone", displayName: "a\nb" }, "bad_display_name"],
    ["a backup for a clone without a world", { as: "xone", backup_id: "bk-1" }, "bad_request"],
    ["an account that cannot own one", { as: "xone", owner: "usr-disabled" }, "bad_request"],
  ];
  for (const [fact, input, fault] of refusals) {
    test(`${fact} is refused as ${fault}, and nothing is left`, async () => {
      fixture.people.disabled.add("usr-disabled");
      assert.equal(await faultOf(clone(input)), fault);
      assert.deepEqual(await sql("select name from lifecycle.servers where name in ('xone', 'full')"), []);
      assert.equal(await fixture.kube.find(resource, { name: "xone", namespace }), undefined);
    });
  }

  test("an image that is no longer allowed is refused as at a creation", async () => {
    const list = fixture.library.whitelist.splice(0);
    assert.equal(await faultOf(clone({ as: "xone" })), "image_not_whitelisted");
    fixture.library.whitelist.push(...list);
  });

  for (const fault of ["no_backup", "not_stopped"] as const) {
    test(`what storage refuses as ${fault} is refused before anything is made`, async () => {
      refusal = fault;
      assert.equal(await faultOf(clone({ as: "xone", world: "newest_backup" })), fault);
      refusal = undefined;
      assert.equal(await fixture.kube.find(resource, { name: "xone", namespace }), undefined);
    });
  }

  test("whoever may make servers may clone them, and nobody else", () => {
    assert.equal(contracts.create.http?.tier, servers.create.http?.tier);
  });

  test("of equal concurrent clones one is made", async () => {
    const results = await Promise.all(Array.from({ length: 4 }, () => faultOf(clone({ as: "raced" }))));
    assert.deepEqual(results.sort(), ["name_taken", "name_taken", "name_taken", "none"]);
  });
});
