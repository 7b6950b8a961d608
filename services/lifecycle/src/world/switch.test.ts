// A server switches to its moved world completely or not at all, on real servers.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { faultOf, staff, until } from "@svc/mesh/testing";
import { worlds as contracts, servers as serverContracts } from "@svc/proto";
import { annotation, servers } from "../cluster/resource.ts";
import { demoImage, type Fixture, namespace, openFixture } from "../testing/fixture.ts";

describe("a server whose world was moved", () => {
  let fixture: Fixture;
  let storage: Mesh;
  before(async () => {
    fixture = await openFixture();
    await fixture.start();
    storage = await fixture.nats.connect("storage");
  });
  after(async () => {
    await storage.drain(500);
    await fixture.close();
  });

  const name = "mover";
  const target = { name, namespace };
  const lock = "migration@2026-01-01T00:00:00.000Z";
  const claim = "world-mover-m0123456789ab";
  const change = { name, lock, node_name: "local-2", volume_claim: claim };
  const switchWorld = (about: Partial<typeof change> = {}) =>
    storage.call(contracts.switchWorld, { ...change, ...about });
  const setLock = (value: string | null) =>
    fixture.kube.patch(servers, target, {
      merge: { metadata: { annotations: { [annotation.maintenance]: value } } },
    });
  const rest = () => until(async () => (await storage.call(contracts.describeServer, { name })).stopped);
  const podOf = () => fixture.kube.find(resources.pods, { name: `${name}-0`, namespace });

  test("is switched only under the lock of the move, and only at rest", async () => {
    await fixture.external.call(
      serverContracts.create,
      { name, subdomain: name, image: demoImage, nodeName: "local-1" },
      staff,
    );
    await rest();
    assert.equal(await faultOf(switchWorld({ name: "nobody-here" })), "not_found");
    assert.equal(await faultOf(switchWorld()), "maintenance_in_progress");
    await setLock("migration@2026-01-02T00:00:00.000Z");
    assert.equal(await faultOf(switchWorld()), "maintenance_in_progress");
    await setLock(lock);
    await fixture.kube.patch(servers, target, { merge: { spec: { desiredState: "Running" } } });
    assert.equal(await faultOf(switchWorld()), "not_stopped");
    await fixture.kube.patch(servers, target, { merge: { spec: { desiredState: "Stopped" } } });
    await rest();
    assert.equal((await fixture.kube.get(servers, target)).spec.nodeName, "local-1");
  });

  test("names the new node and volume and loses its lock by one write, and a repeat changes nothing", async () => {
    await switchWorld();
    const { spec, metadata } = await fixture.kube.get(servers, target);
    assert.deepEqual([spec.nodeName, spec.storage?.claimName], ["local-2", claim]);
    assert.equal(metadata.annotations?.[annotation.maintenance], undefined);
    await switchWorld();
    assert.equal((await fixture.kube.get(servers, target)).metadata.generation, metadata.generation);
    assert.equal((await storage.call(contracts.describeServer, { name })).volume_claim, claim);
  });

  test("runs on the new node with the new volume from its next start on", async () => {
    await fixture.kube.create(resources.claims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: claim, namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    await fixture.external.call(serverContracts.wake, { name }, staff);
    await until(async () => (await podOf())?.spec?.nodeName !== undefined, 20_000);
    const pod = await podOf();
    assert.equal(pod?.spec?.nodeName, "local-2");
    const claims = pod?.spec?.volumes?.flatMap(
      ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
    );
    assert.deepEqual(claims, [claim]);
  });
});
