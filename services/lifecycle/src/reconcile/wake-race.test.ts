// A wake by a player or owner and a lock by storage at the same time.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { faultOf, staff, until } from "@svc/mesh/testing";
import { servers as contracts } from "@svc/proto";
import { acquireLock, type HeldLock } from "@svc/world-lock";
import { servers } from "../cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";

const rounds = 60;

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start(["lifecycle.wake_cooldown=0ms"]);
});
after(() => fixture.close());

async function makeServer(name: string): Promise<void> {
  const spec = { subdomain: name, image: "svc.local/none:1", desiredState: "Stopped" as const };
  const head = { apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" };
  await fixture.kube.create(servers, { ...head, metadata: { name, namespace }, spec });
}

const isStopped = async (name: string) =>
  (await fixture.kube.get(servers, { name, namespace })).status?.phase === "Stopped";

test("of a wake and a lock exactly one wins, sixty times, and the other gets the reason", async (t) => {
  const names = Array.from({ length: rounds }, (_, index) => `race-${index}`);
  for (const name of names) await makeServer(name);
  await until(async () => (await Promise.all(names.map(isStopped))).every(Boolean), 20_000);
  let [wakes, locks] = [0, 0];
  for (const [index, name] of names.entries()) {
    const lock = (): Promise<HeldLock | string> =>
      acquireLock({ kube: fixture.kube }, { name, namespace }, { kind: "backup", mustBeStopped: true }).catch(
        (error: { fault: string }) => error.fault,
      );
    const wake = () => faultOf(fixture.external.call(contracts.wake, { name }, staff));
    // A wake takes longer, so it starts first, with a different head start each time.
    const waking = wake();
    for (let turn = 0; turn < index % 12; turn++) await new Promise((resolve) => setImmediate(resolve));
    const [woken, held] = await Promise.all([waking, lock()]);
    const isLocked = typeof held !== "string";
    assert.equal(woken === "none", !isLocked, `${name}: the wake ended in ${woken}, the lock in ${held}`);
    if (isLocked) {
      locks += 1;
      assert.equal(woken, "maintenance_in_progress");
      await held.release();
    } else {
      wakes += 1;
      assert.equal(held, "not_stopped");
      await fixture.kube.patch(
        servers,
        { name, namespace },
        { merge: { spec: { desiredState: "Stopped" } } },
      );
    }
  }
  t.diagnostic(`${wakes} wakes and ${locks} locks won`);
});
