import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { faultOf, staff, until } from "@svc/mesh/testing";
import { servers as contracts } from "@svc/proto";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";
import {
  type CreateInput,
  createServerOperations,
  noImage,
  operationSettings,
} from "../testing/server-operations.ts";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start(operationSettings);
});
after(() => fixture.close());

const { create, getServer, phase, sql, untilAudited } = createServerOperations(() => fixture);

describe("creating a server", () => {
  test("a server is created stopped on a node with free memory, with RCON on, ten idle minutes and a heap with a reserve", async () => {
    const made = await fixture.external.call(
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
    await untilAudited("server.create", "plain");
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
    ["a storage that is not a quantity", { name: "fine1", storage: "big" }, "bad_request"],
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

  test("a refused creation leaves nothing", async () => {
    assert.deepEqual(await sql("select name from lifecycle.servers where name in ('fine1', 'x1')"), []);
  });

  test("a name and a subdomain belong to one server only", async () => {
    await create({ name: "first" });
    assert.equal(await faultOf(create({ name: "first", subdomain: "other" })), "name_taken");
    assert.equal(await faultOf(create({ name: "second", subdomain: "first" })), "subdomain_taken");
    assert.deepEqual(await sql("select name from lifecycle.servers where name = 'second'"), []);
  });

  test("of equal concurrent creations one succeeds", async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => faultOf(create({ name: "raced" }))));
    assert.equal(results.filter((result) => result === "none").length, 1);
    assert.ok(results.every((result) => result === "none" || result === "name_taken"));
  });

  test("a creation reports its first fault: names before sizes, sizes before the image", async () => {
    const wrong = { name: "Upper", subdomain: "-", displayName: "a\nb", memory: "0", image: "elsewhere:1" };
    const recovered: [Partial<CreateInput>, string][] = [
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
    for (const [input, fault] of recovered)
      assert.equal(await faultOf(create({ ...wrong, ...input })), fault);
  });

  test("of creations of one name with different subdomains the alias matches the object", async () => {
    const results = await Promise.all(
      [1, 2, 3, 4].map((n) => faultOf(create({ name: "aliased", subdomain: `aliased-${n}` }))),
    );
    assert.equal(results.filter((result) => result === "none").length, 1, results.join());
    const aliases = await sql("select subdomain from lifecycle.server_aliases where server_name = 'aliased'");
    assert.deepEqual(aliases, [{ subdomain: (await getServer("aliased")).spec.subdomain }]);
  });

  test("a leftover world is not mounted by accident", async () => {
    await fixture.kube.create(resources.claims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "world-leftover-0", namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    assert.equal(await faultOf(create({ name: "leftover" })), "world_volume_exists");
  });

  test("rows whose object was never created are reused by the next creation", async () => {
    await sql("insert into lifecycle.servers (name) values ('halfway')");
    await sql(
      "insert into lifecycle.server_aliases (subdomain, server_name) values ('halfway-old', 'halfway')",
    );
    await create({ name: "halfway", subdomain: "halfway-new" });
    const aliases = await sql("select subdomain from lifecycle.server_aliases where server_name = 'halfway'");
    assert.deepEqual(aliases, [{ subdomain: "halfway-new" }]);
  });
});
