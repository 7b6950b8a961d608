// On the embedded API server, as the services use it.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type CustomResourceDefinition, connectKube, type Job, type Kube, resources } from "@svc/kube";
import { type LocalCluster, startLocalCluster } from "@svc/local-cluster";
import { until } from "@svc/local-stack/testing";
import { isFault, type MinecraftServerStatus } from "@svc/proto";
import { type AcquireOptions, acquireLock } from "./acquire.ts";
import type { HeldLock } from "./held-lock.ts";
import { lockValue } from "./holder.ts";
import { type LockedServer, lockedServers, maintenanceAnnotation, worldJobLabels } from "./names.ts";

const crd = new URL("../../../deploy/crd/minecraftservers.svc.internal.json", import.meta.url);
const namespace = "minecraft";
const free: AcquireOptions = { kind: "backup", mustBeStopped: false };
const stopped: AcquireOptions = { kind: "backup", mustBeStopped: true };

let dir: string;
let cluster: LocalCluster;
let kube: Kube;
before(async () => {
  dir = mkdtempSync(join(tmpdir(), "svc-world-lock-"));
  const images = join(dir, "images.json");
  writeFileSync(images, "{}");
  cluster = await startLocalCluster({ dataDir: dir, port: 0, images });
  kube = connectKube({ kubeconfigFile: join(dir, "kubeconfig") });
  await kube.create(resources.namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
  const definition = JSON.parse(readFileSync(fileURLToPath(crd), "utf8")) as CustomResourceDefinition;
  await kube.create(resources.customResourceDefinitions, definition);
});
after(async () => {
  kube.close();
  await cluster.close();
  rmSync(dir, { recursive: true, force: true });
});

let count = 0;
type ServerState = {
  desiredState?: "Running" | "Stopped";
  phase?: MinecraftServerStatus["phase"];
  lock?: string;
};

/** Creates a server, stopped by default. */
async function makeServer({ desiredState = "Stopped", phase = "Stopped", lock }: ServerState = {}) {
  const target = { name: `world-${++count}`, namespace };
  const spec = { subdomain: target.name, image: "none", desiredState };
  const annotations = lock ? { [maintenanceAnnotation]: lock } : {};
  const head = { apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" };
  const made = await kube.create<LockedServer>(lockedServers, {
    ...head,
    metadata: { ...target, annotations },
    spec,
  });
  await kube.replaceStatus(lockedServers, { ...made, status: { phase } });
  return target;
}

const annotationOf = async (target: { name: string }) =>
  (await kube.get(lockedServers, { ...target, namespace })).metadata.annotations?.[maintenanceAnnotation];

async function outcome(taking: Promise<HeldLock>): Promise<HeldLock | string> {
  return taking.catch((error: unknown) => {
    if (isFault(error)) return error.fault;
    throw error;
  });
}

describe("acquiring a lock", () => {
  test("the annotation holds the lock while it is held, and is removed on release", async () => {
    const target = await makeServer();
    const lock = await acquireLock({ kube }, target, stopped);
    assert.equal(await annotationOf(target), lock.value);
    lock.assertHeld();
    await lock.release();
    assert.equal(await annotationOf(target), undefined);
    assert.throws(() => lock.assertHeld(), /was released/);
  });

  const refusals: [fact: string, state: ServerState, options: AcquireOptions, fault: string][] = [
    ["a server whose desired state is Running", { desiredState: "Running" }, stopped, "not_stopped"],
    ["a server that is stopping", { phase: "Stopping" }, stopped, "not_stopped"],
    ["a failed server, which may still have a pod", { phase: "Failed" }, stopped, "not_stopped"],
    [
      "a world that is being backed up",
      { lock: lockValue("backup", Date.now()) },
      free,
      "maintenance_in_progress",
    ],
    ["a world that the reaper holds", { lock: lockValue("reap", Date.now()) }, free, "world_reclaiming"],
    [
      "a world that has been moving for days",
      { lock: lockValue("migration", 0) },
      free,
      "maintenance_in_progress",
    ],
  ];
  for (const [fact, state, options, fault] of refusals) {
    test(`${fact} is not locked: ${fault}`, async () => {
      assert.equal(await outcome(acquireLock({ kube }, await makeServer(state), options)), fault);
    });
  }

  test("a server that does not exist is not_found", async () => {
    assert.equal(await outcome(acquireLock({ kube }, { name: "missing", namespace }, free)), "not_found");
  });

  test("an abandoned lock is taken over after two minutes", async () => {
    const target = await makeServer({ lock: lockValue("backup", Date.now() - 120_000) });
    await using lock = await acquireLock({ kube }, target, free);
    assert.equal(await annotationOf(target), lock.value);
  });

  test("a server whose pod still terminates is not stopped", async () => {
    const target = await makeServer();
    const pod = { name: `${target.name}-0`, namespace };
    const spec = { containers: [{ name: "minecraft", image: "none" }], nodeName: "nowhere" };
    await kube.create(resources.pods, { apiVersion: "v1", kind: "Pod", metadata: pod, spec });
    assert.equal(await outcome(acquireLock({ kube }, target, stopped)), "not_stopped");
    await kube.remove(resources.pods, pod, { gracePeriodSeconds: 0 });
    await (await acquireLock({ kube }, target, stopped)).release();
  });

  test("a running Job holds the world without an annotation", async () => {
    const target = await makeServer();
    const labels = { [worldJobLabels.server]: target.name, [worldJobLabels.managedBy]: "svc-restore" };
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } };
    const metadata = { name: `restore-${target.name}`, namespace, labels };
    const job: Job = { apiVersion: "batch/v1", kind: "Job", metadata, spec: { template } };
    await kube.create(resources.jobs, job);
    assert.equal(await outcome(acquireLock({ kube }, target, free)), "maintenance_in_progress");
  });

  test("the caller's condition checks the fresh object and can reject", async () => {
    const target = await makeServer();
    const check = (server: LockedServer) => {
      throw new Error(`rejected: ${server.status?.phase}`);
    };
    await assert.rejects(acquireLock({ kube }, target, { ...free, check }), /rejected: Stopped/);
    assert.equal(await annotationOf(target), undefined);
  });

  test("a process that knows the value of a dead one takes its lock over", async () => {
    const value = lockValue("reap", Date.now() - 1_000);
    const target = await makeServer({ lock: value });
    await using lock = await acquireLock({ kube }, target, {
      kind: "reap",
      mustBeStopped: false,
      resume: value,
    });
    assert.notEqual(lock.value, value);
  });
});

describe("a held lock", () => {
  test("the lock of a move outlives its process, and nobody else gets the world", async () => {
    const target = await makeServer();
    const at = Date.parse("2026-01-01T00:00:00.000Z");
    const lock = await acquireLock({ kube, now: () => at }, target, {
      kind: "migration",
      mustBeStopped: true,
    });
    await lock.leave();
    const server = await kube.get(lockedServers, target);
    assert.equal(server.metadata.annotations?.[maintenanceAnnotation], lockValue("migration", at));
    assert.throws(() => lock.assertHeld());
    const refused = await acquireLock({ kube }, target, free).catch((error: unknown) => error);
    assert.equal(isFault(refused) && refused.fault, "maintenance_in_progress");
  });

  test("is refreshed for as long as it is held", async () => {
    const target = await makeServer();
    await using lock = await acquireLock({ kube, ttlMs: 60_000, refreshMs: 20 }, target, free);
    const first = lock.value;
    await until(async () => lock.value !== first && (await annotationOf(target)) === lock.value);
    assert.equal(lock.signal.aborted, false);
  });

  test("survives other writes to the server", async () => {
    const target = await makeServer();
    await using lock = await acquireLock({ kube, ttlMs: 60_000, refreshMs: 5 }, target, free);
    for (let round = 0; round < 30; round++) {
      await kube.patch(lockedServers, target, { merge: { metadata: { labels: { round: String(round) } } } });
    }
    lock.assertHeld();
  });

  test("aborts when somebody else takes it, and is not taken from the new holder", async () => {
    const target = await makeServer();
    const lock = await acquireLock({ kube, ttlMs: 60_000, refreshMs: 20 }, target, free);
    const other = lockValue("restore", Date.now() + 5);
    await kube.patch(lockedServers, target, {
      merge: { metadata: { annotations: { [maintenanceAnnotation]: other } } },
    });
    await until(() => lock.signal.aborted);
    assert.throws(() => lock.assertHeld(), /was taken by another holder/);
    await lock.release();
    assert.equal(await annotationOf(target), other);
  });

  test("a release removes only our own lock, even before the loss is noticed", async () => {
    const target = await makeServer();
    const lock = await acquireLock({ kube }, target, free);
    const other = lockValue("restore", Date.now() + 5);
    await kube.patch(lockedServers, target, {
      merge: { metadata: { annotations: { [maintenanceAnnotation]: other } } },
    });
    await lock.release();
    assert.equal(await annotationOf(target), other);
  });

  test("aborts when it cannot be refreshed, before anybody else may take it", async () => {
    const target = await makeServer();
    let isDown = false;
    const find: Kube["find"] = (kind, about, options) =>
      isDown ? Promise.reject(new Error("the cluster is unreachable")) : kube.find(kind, about, options);
    const ttlMs = 400;
    const takenAt = performance.now();
    const lock = await acquireLock({ kube: { ...kube, find }, ttlMs, refreshMs: 100 }, target, free);
    isDown = true;
    await until(() => lock.signal.aborted);
    const abortedAfter = performance.now() - takenAt;
    const value = await annotationOf(target);
    assert.equal(value, lock.value);
    assert.throws(() => lock.assertHeld(), /could not be refreshed in time/);
    assert.ok(abortedAfter > 250, `aborted after only ${abortedAfter} ms`);
  });

  test("survives a lost response", async () => {
    const target = await makeServer();
    let isLossy = false;
    const patch: Kube["patch"] = async (...call) => {
      const done = await kube.patch(...call);
      if (!isLossy) return done;
      isLossy = false;
      throw new Error("the response was lost");
    };
    await using lock = await acquireLock(
      { kube: { ...kube, patch }, ttlMs: 60_000, refreshMs: 30 },
      target,
      free,
    );
    const first = lock.value;
    isLossy = true;
    await until(() => lock.value !== first || lock.signal.aborted);
    lock.assertHeld();
  });

  test("expires without a refresh: a killed process blocks nobody for long", async () => {
    const target = await makeServer();
    const ttlMs = 200;
    await kube.patch(lockedServers, target, {
      merge: { metadata: { annotations: { [maintenanceAnnotation]: lockValue("backup", Date.now()) } } },
    });
    let lock: HeldLock | string = "";
    await until(async () => {
      lock = await outcome(acquireLock({ kube, ttlMs }, target, free));
      return typeof lock !== "string";
    });
    await (lock as unknown as HeldLock).release();
  });
});

describe("races", () => {
  test("of eight concurrent attempts exactly one gets the world, fifty times", async () => {
    const target = await makeServer();
    for (let round = 0; round < 50; round++) {
      const tries = Array.from({ length: 8 }, () => outcome(acquireLock({ kube }, target, stopped)));
      const results = await Promise.all(tries);
      const locks = results.filter((result): result is HeldLock => typeof result !== "string");
      assert.equal(locks.length, 1, `round ${round}`);
      const others = results.filter((result) => typeof result === "string");
      assert.deepEqual(new Set(others), new Set(["maintenance_in_progress"]));
      await locks[0]?.release();
    }
  });
});
