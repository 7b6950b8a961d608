// On the embedded API server, as services use it.

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
import type { Hold } from "./held-lock.ts";
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
type About = { desiredState?: "Running" | "Stopped"; phase?: MinecraftServerStatus["phase"]; lock?: string };

/** Makes a server; it is stopped unless said otherwise. */
async function makeServer({ desiredState = "Stopped", phase = "Stopped", lock }: About = {}) {
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

async function outcome(taking: Promise<Hold>): Promise<Hold | string> {
  return taking.catch((error: unknown) => {
    if (isFault(error)) return error.fault;
    throw error;
  });
}

describe("taking a lock", () => {
  test("a lock stands in the annotation while it is held and is gone when it is released", async () => {
    const target = await makeServer();
    const hold = await acquireLock({ kube }, target, stopped);
    assert.equal(await annotationOf(target), hold.value);
    hold.assertHeld();
    await hold.release();
    assert.equal(await annotationOf(target), undefined);
    assert.throws(() => hold.assertHeld(), /was released/);
  });

  const refusals: [fact: string, about: About, options: AcquireOptions, fault: string][] = [
    ["a server that wants to run", { desiredState: "Running" }, stopped, "not_stopped"],
    ["a server that is stopping", { phase: "Stopping" }, stopped, "not_stopped"],
    ["a server that has failed and may have a pod", { phase: "Failed" }, stopped, "not_stopped"],
    ["a world under backup", { lock: lockValue("backup", Date.now()) }, free, "maintenance_in_progress"],
    ["a world that the reaper has", { lock: lockValue("reap", Date.now()) }, free, "world_reclaiming"],
    [
      "a world that is being moved for days",
      { lock: lockValue("migration", 0) },
      free,
      "maintenance_in_progress",
    ],
  ];
  for (const [fact, about, options, fault] of refusals) {
    test(`${fact} is not locked: ${fault}`, async () => {
      assert.equal(await outcome(acquireLock({ kube }, await makeServer(about), options)), fault);
    });
  }

  test("a server that is not there is not_found", async () => {
    assert.equal(await outcome(acquireLock({ kube }, { name: "nobody", namespace }, free)), "not_found");
  });

  test("an abandoned lock is taken over after two minutes", async () => {
    const target = await makeServer({ lock: lockValue("backup", Date.now() - 120_000) });
    await using hold = await acquireLock({ kube }, target, free);
    assert.equal(await annotationOf(target), hold.value);
  });

  test("a pod that still ends is not a stopped server", async () => {
    const target = await makeServer();
    const pod = { name: `${target.name}-0`, namespace };
    const spec = { containers: [{ name: "minecraft", image: "none" }], nodeName: "nowhere" };
    await kube.create(resources.pods, { apiVersion: "v1", kind: "Pod", metadata: pod, spec });
    assert.equal(await outcome(acquireLock({ kube }, target, stopped)), "not_stopped");
    await kube.remove(resources.pods, pod, { gracePeriodSeconds: 0 });
    await (await acquireLock({ kube }, target, stopped)).release();
  });

  test("a running Job holds the world without any annotation", async () => {
    const target = await makeServer();
    const labels = { [worldJobLabels.server]: target.name, [worldJobLabels.managedBy]: "svc-restore" };
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } };
    const metadata = { name: `restore-${target.name}`, namespace, labels };
    const job: Job = { apiVersion: "batch/v1", kind: "Job", metadata, spec: { template } };
    await kube.create(resources.jobs, job);
    assert.equal(await outcome(acquireLock({ kube }, target, free)), "maintenance_in_progress");
  });

  test("a condition of the caller is asked of the fresh object and refuses", async () => {
    const target = await makeServer();
    const check = (server: LockedServer) => {
      throw new Error(`no: ${server.status?.phase}`);
    };
    await assert.rejects(acquireLock({ kube }, target, { ...free, check }), /no: Stopped/);
    assert.equal(await annotationOf(target), undefined);
  });

  test("a process that died is continued by one that knows its value", async () => {
    const value = lockValue("reap", Date.now() - 1_000);
    const target = await makeServer({ lock: value });
    await using hold = await acquireLock({ kube }, target, {
      kind: "reap",
      mustBeStopped: false,
      resume: value,
    });
    assert.notEqual(hold.value, value);
  });
});

describe("holding a lock", () => {
  test("a lock of a move that its process leaves behind stands, and nobody gets the world", async () => {
    const target = await makeServer();
    const at = Date.parse("2026-01-01T00:00:00.000Z");
    const hold = await acquireLock({ kube, now: () => at }, target, {
      kind: "migration",
      mustBeStopped: true,
    });
    await hold.leave();
    const server = await kube.get(lockedServers, target);
    assert.equal(server.metadata.annotations?.[maintenanceAnnotation], lockValue("migration", at));
    assert.throws(() => hold.assertHeld());
    const refused = await acquireLock({ kube }, target, free).catch((error: unknown) => error);
    assert.equal(isFault(refused) && refused.fault, "maintenance_in_progress");
  });

  test("it is refreshed for as long as it is held", async () => {
    const target = await makeServer();
    await using hold = await acquireLock({ kube, ttlMs: 60_000, refreshMs: 20 }, target, free);
    const first = hold.value;
    await until(async () => hold.value !== first && (await annotationOf(target)) === hold.value);
    assert.equal(hold.signal.aborted, false);
  });

  test("what others write to the server meanwhile takes no lock away", async () => {
    const target = await makeServer();
    await using hold = await acquireLock({ kube, ttlMs: 60_000, refreshMs: 5 }, target, free);
    for (let round = 0; round < 30; round++) {
      await kube.patch(lockedServers, target, { merge: { metadata: { labels: { round: String(round) } } } });
    }
    hold.assertHeld();
  });

  test("a lock that somebody took away aborts, and is not taken away from its new holder", async () => {
    const target = await makeServer();
    const hold = await acquireLock({ kube, ttlMs: 60_000, refreshMs: 20 }, target, free);
    const other = lockValue("restore", Date.now() + 5);
    await kube.patch(lockedServers, target, {
      merge: { metadata: { annotations: { [maintenanceAnnotation]: other } } },
    });
    await until(() => hold.signal.aborted);
    assert.throws(() => hold.assertHeld(), /was taken away/);
    await hold.release();
    assert.equal(await annotationOf(target), other);
  });

  test("a release takes only one's own lock away, also before the loss was noticed", async () => {
    const target = await makeServer();
    const hold = await acquireLock({ kube }, target, free);
    const other = lockValue("restore", Date.now() + 5);
    await kube.patch(lockedServers, target, {
      merge: { metadata: { annotations: { [maintenanceAnnotation]: other } } },
    });
    await hold.release();
    assert.equal(await annotationOf(target), other);
  });

  test("a lock that cannot be refreshed aborts before anybody else may have it", async () => {
    const target = await makeServer();
    let isAway = false;
    const find: Kube["find"] = (kind, about, options) =>
      isAway ? Promise.reject(new Error("the cluster is away")) : kube.find(kind, about, options);
    const ttlMs = 400;
    const takenAt = performance.now();
    const hold = await acquireLock({ kube: { ...kube, find }, ttlMs, refreshMs: 100 }, target, free);
    isAway = true;
    await until(() => hold.signal.aborted);
    const abortedAfter = performance.now() - takenAt;
    const value = await annotationOf(target);
    assert.equal(value, hold.value);
    assert.throws(() => hold.assertHeld(), /could not be refreshed in time/);
    assert.ok(abortedAfter > 250, `aborted already after ${abortedAfter} ms`);
  });

  test("an answer that got lost costs no lock", async () => {
    const target = await makeServer();
    let isLossy = false;
    const patch: Kube["patch"] = async (...call) => {
      const done = await kube.patch(...call);
      if (!isLossy) return done;
      isLossy = false;
      throw new Error("the answer got lost");
    };
    await using hold = await acquireLock(
      { kube: { ...kube, patch }, ttlMs: 60_000, refreshMs: 30 },
      target,
      free,
    );
    const first = hold.value;
    isLossy = true;
    await until(() => hold.value !== first || hold.signal.aborted);
    hold.assertHeld();
  });

  test("without a refresh the next one gets it: a process that is killed blocks nobody for long", async () => {
    const target = await makeServer();
    const ttlMs = 200;
    await kube.patch(lockedServers, target, {
      merge: { metadata: { annotations: { [maintenanceAnnotation]: lockValue("backup", Date.now()) } } },
    });
    let hold: Hold | string = "";
    await until(async () => {
      hold = await outcome(acquireLock({ kube, ttlMs }, target, free));
      return typeof hold !== "string";
    });
    await (hold as unknown as Hold).release();
  });
});

describe("races", () => {
  test("of eight who ask for a world at once exactly one gets it, fifty times", async () => {
    const target = await makeServer();
    for (let round = 0; round < 50; round++) {
      const tries = Array.from({ length: 8 }, () => outcome(acquireLock({ kube }, target, stopped)));
      const results = await Promise.all(tries);
      const holds = results.filter((result): result is Hold => typeof result !== "string");
      assert.equal(holds.length, 1, `round ${round}`);
      const others = results.filter((result) => typeof result === "string");
      assert.deepEqual(new Set(others), new Set(["maintenance_in_progress"]));
      await holds[0]?.release();
    }
  });
});
