import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { resources } from "@svc/kube";
import { account, faultOf, staff, until, velocity } from "@svc/mesh/testing";
import { servers as contracts, ownership, rowFor, type ServerInfo, serverRows } from "@svc/proto";
import { servers } from "../cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";
import { createServerOperations, noImage, operationSettings } from "../testing/server-operations.ts";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start(operationSettings);
});
after(() => fixture.close());

const { create, read, phase, setStatus, sql, setOwner, untilAudited } = createServerOperations(() => fixture);

describe("reading", () => {
  test("others see seven fields; the owner and staff see all of them, and a pending retirement", async () => {
    await create({ name: "seen", displayName: "Seen" });
    await setOwner("seen", "usr-1");
    await until(async () => (await phase("seen")) === "Stopped");
    await sql(
      "update lifecycle.servers set retire_requested_at = now(), retire_delete = true where name = 'seen'",
    );
    const view = (who = staff) => fixture.external.call(contracts.viewStatus, { name: "seen" }, who);
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
      await faultOf(fixture.external.call(contracts.viewStatus, { name: "nobody-here" }, staff)),
      "not_found",
    );
  });

  test("the images of servers are listed from the cluster, before a copy of it has them", async () => {
    const imagesOf = async (server: string) => {
      const { items } = await fixture.builds.call(contracts.listImages, {});
      return items.find((item) => item.server === server)?.images;
    };
    await create({ name: "pictured" });
    await fixture.kube.patch(
      servers,
      { name: "pictured", namespace },
      { merge: { spec: { image: "registry.example/packs/one:1" } } },
    );
    assert.deepEqual(await imagesOf("pictured"), ["registry.example/packs/one:1"]);
    const { items: after } = await fixture.builds.call(contracts.listImages, { cursor: "pictured" });
    assert.ok(after.every(({ server }) => server > "pictured"));
    const container = { name: "main", image: "registry.example/tools/a:2" };
    await fixture.kube.create(resources.pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "some-job", namespace },
      spec: {
        containers: [container],
        initContainers: [{ name: "first", image: "registry.example/tools/b:1" }],
      },
    });
    assert.deepEqual(await imagesOf("some-job"), [
      "registry.example/tools/a:2",
      "registry.example/tools/b:1",
    ]);
  });

  test("the fleet names owners, and says when they are unknown", async () => {
    const rowOf = async (name: string) => {
      const { items } = await fixture.external.call(contracts.fleet, {}, account("usr-1", "admin"));
      return items.find((item) => item.name === name);
    };
    const seen = await rowOf("seen");
    assert.deepEqual([seen?.owned, seen?.claimable, seen?.owner], [true, false, "usr-1@example.org"]);
    assert.equal(seen?.ownerPlayer, undefined);
    const player = randomUUID();
    fixture.people.links.set(player, { user_id: "usr-1", role: "user" });
    const joined = { name: "seen", mc_uuid: player, player_name: "Alice" };
    await fixture.internal.call(contracts.reportJoin, joined, velocity);
    assert.equal((await rowOf("seen"))?.ownerPlayer, "Alice");
    await create({ name: "plain" });
    const plain = await rowOf("plain");
    assert.deepEqual([plain?.owned, plain?.claimable, plain?.owner], [false, true, undefined]);
    fixture.people.isAway = true;
    const unknown = await rowOf("seen").finally(() => {
      fixture.people.isAway = false;
    });
    assert.deepEqual([unknown?.owner, unknown?.ownerUnknown], [undefined, true]);
  });

  test("the list and the view hold the same servers", async () => {
    const { items, next } = await fixture.internal.call(contracts.list, {}, velocity);
    assert.equal(next, undefined);
    const mirror = fixture.internal.mirrorView(contracts.servers);
    await until(() => mirror.ready && mirror.size === items.length);
    assert.deepEqual(
      items.map(({ name }) => name),
      [...items].map(({ name }) => name).sort(),
    );
    await mirror.close();
  });

  test("the view of owners gives each caller what this service answers", async () => {
    const [infos, owners] = [contracts.servers, contracts.serverOwners].map((view) =>
      fixture.external.mirrorView<unknown>(view),
    );
    assert.ok(infos && owners);
    const entryOf = (mirror: typeof infos, key: string) => {
      const bytes = mirror.get(key);
      return bytes && JSON.parse(Buffer.from(bytes).toString());
    };
    const fleetOf = async (who: typeof staff) =>
      (await fixture.external.call(contracts.fleet, {}, who)).items;
    for (const who of [staff, account("usr-1", "admin")]) {
      assert.ok(who.principal);
      const { principal } = who;
      const fromView = () =>
        infos.keys().map((key) =>
          rowFor(serverRows.fleetRows, principal, {
            entry: entryOf(infos, key),
            beside: entryOf(owners, key),
          }),
        );
      // Names of players reach the view with its next look at them.
      const unnamed = (rows: (object | undefined)[]) =>
        rows.map((row) => ({ ...row, ownerPlayer: undefined }));
      await until(async () => isDeepStrictEqual(unnamed(fromView()), unnamed(await fleetOf(who))));
      const mine = (await fixture.external.call(ownership.listMine, {}, who)).items;
      const mineFromView: unknown[] = owners.keys().flatMap((key) => {
        const pair = { entry: entryOf(owners, key), beside: entryOf(infos, key) };
        return rowFor(serverRows.myRows, principal, pair) ?? [];
      });
      assert.deepEqual(mineFromView, mine);
    }
    await Promise.all([infos.close(), owners.close()]);
  });

  test("readiness needs the database and the cluster", async () => {
    assert.deepEqual(await fixture.internal.call(contracts.ready, {}), { status: "ready" });
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
      fixture.internal.call(contracts.reportJoin, { name: "joined", mc_uuid: player }, velocity);
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
        fixture.internal.call(contracts.reportJoin, { name: "nobody-here", mc_uuid: player }, velocity),
      ),
      "not_found",
    );
  });

  test("a ready report is only audited", async () => {
    assert.equal(await fixture.internal.call(contracts.reportReady, { name: "joined" }, velocity), null);
    await untilAudited("server.ready", "joined");
  });
});

test("a phase change is in its row and in the outbox", async () => {
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

test("an object that was applied with kubectl gets its rows", async () => {
  const spec = { subdomain: "by-hand", image: noImage };
  await fixture.kube.create(servers, {
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

test("the service needs no more rights than its Role has", async () => {
  // Every step above ran with the rights of the shipped Roles; a missing right shows as a failed pass.
  await setStatus("followed", { phase: "Unknown" });
  await until(async () => (await phase("followed")) === "Stopped");
});
