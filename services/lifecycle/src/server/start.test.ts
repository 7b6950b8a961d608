// What may happen between two steps of a wake. The steps are real; a test inserts something in between.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Informer, type Kube, startInformer } from "@svc/kube";
import { faultOf, until } from "@svc/mesh/testing";
import { Fault, type FaultName } from "@svc/proto";
import type { Store } from "@svc/store";
import { createTestDatabase, type TestDatabase } from "@svc/store/testing";
import { createLogger } from "@svc/telemetry";
import { servers as resource, type Server } from "../cluster/resource.ts";
import type { Tables } from "../database/schema.ts";
import { createVersionStore } from "../image/version-store.ts";
import { createOwnershipStore } from "../ownership/store.ts";
import { namespace, startTestCluster, type TestCluster } from "../testing/fixture.ts";
import { defaults } from "../testing/observed.ts";
import type { ServerDeps } from "./deps.ts";
import { startServer } from "./start.ts";
import { createServerStore } from "./store.ts";
import { createWakeReservations } from "./wake-reservations.ts";

let base: TestCluster;
let database: TestDatabase;
let tables: Store<Tables>;
let servers: Informer<Server>;
before(async () => {
  const migrations = new URL("../../migrations/", import.meta.url).pathname;
  [base, database] = await Promise.all([
    startTestCluster(),
    createTestDatabase({ schema: "lifecycle", migrations }),
  ]);
  tables = database.open<Tables>();
  const log = createLogger("lifecycle", "silent");
  servers = startInformer({ kube: base.kube, log, namespace, resource });
  await servers.ready;
});
after(async () => {
  await servers.stop();
  await tables.close();
  await database.drop();
  await base.close();
});

const waking = createWakeReservations();

/** `beforeChange` runs after all checks and before the change. */
function depsWith(
  beforeChange: () => Promise<void>,
  settings: Partial<ServerDeps["settings"]> = {},
): ServerDeps {
  const patch: Kube["patch"] = async (...call) => {
    await beforeChange();
    return base.kube.patch(...call);
  };
  return {
    kube: { ...base.kube, patch },
    mesh: { call: () => Promise.reject(new Fault("unavailable")), audit: () => {} },
    store: createServerStore(tables),
    versions: createVersionStore(tables),
    servers,
    nodes: servers as never,
    settings: { ...defaults, ...settings },
    namespace,
    countSoon: () => false,
    waking,
  };
}

async function make(name: string): Promise<Server> {
  const head = {
    apiVersion: "svc.internal/v1alpha1",
    kind: "MinecraftServer",
    metadata: { name, namespace },
  };
  const server = await base.kube.create(resource, { ...head, spec: { subdomain: name, image: "none:1" } });
  await createServerStore(tables).adopt({ name, subdomain: name, offered: true });
  await until(() => servers.get(name) !== undefined);
  return server;
}

const refuse = (fault: FaultName) => new Fault(fault);
const wake = (deps: ServerDeps, server: Server) =>
  startServer(deps, { server, row: undefined, mayRetry: false, refuse });
const desired = async (name: string) =>
  (await base.kube.get(resource, { name, namespace })).spec.desiredState;
const lastWake = async (name: string) => {
  const [row] = await database.admin("select last_wake_at from lifecycle.servers where name = $1", [name]);
  return row?.["last_wake_at"];
};

test("a replica that dies before the change leaves no cooldown", async () => {
  const server = await make("half-way");
  const reached = Promise.withResolvers<void>();
  // Never resolves, as in a process that was killed here.
  void wake(
    depsWith(() => {
      reached.resolve();
      return new Promise(() => {});
    }),
    server,
  );
  await reached.promise;
  assert.equal(await lastWake("half-way"), null);
  const { change } = await wake(
    depsWith(async () => {}),
    server,
  );
  assert.equal(change, "woken");
  assert.notEqual(await lastWake("half-way"), null);
});

test("a wake that cancels a stop neither waits for the cooldown nor starts it", async () => {
  const made = await make("called-off");
  const deps = depsWith(async () => {});
  await createServerStore(tables).recordWake("called-off", { startsCooldown: true, change: undefined });
  const woken = await lastWake("called-off");
  assert.equal(await faultOf(wake(deps, made)), "cooldown");
  const status = { phase: "Running" as const, stopNoticeAt: new Date().toISOString() };
  const { change } = await wake(deps, { ...made, status });
  assert.equal(change, "woken");
  assert.equal(await desired("called-off"), "Running");
  assert.deepEqual(await lastWake("called-off"), woken);
});

test("a retirement in the middle of a wake wins", async () => {
  const server = await make("late-give-up");
  const retiring = { requested_at: new Date().toISOString(), delete: false };
  let isRequested = false;
  const deps = depsWith(async () => {
    if (isRequested) return;
    isRequested = true;
    await createOwnershipStore(tables).retire("late-give-up", {
      decide: () => retiring,
      auditOf: () => ({ action: "server.release", actor: "owner", source: "external" }),
    });
    const merge = { spec: { desiredState: "Stopped" } };
    await base.kube.patch(resource, { name: "late-give-up", namespace }, { merge });
  });
  assert.equal(await faultOf(wake(deps, server)), "server_retiring");
  assert.equal(await desired("late-give-up"), "Stopped");
  assert.equal(await lastWake("late-give-up"), null);
});

test("concurrent wakes do not exceed the capacity together", async () => {
  const names = Array.from({ length: 8 }, (_, index) => `capped-${index}`);
  const made = await Promise.all(names.map(make));
  const running = servers.list().filter(({ spec }) => spec.desiredState === "Running").length;
  const deps = depsWith(async () => {}, { max_running_servers: running + 3 });
  const results = await Promise.all(made.map((server) => faultOf(wake(deps, server))));
  assert.equal(results.filter((result) => result === "none").length, 3);
  assert.equal(results.filter((result) => result === "at_capacity").length, 5);
  const states = await Promise.all(names.map(desired));
  assert.equal(states.filter((state) => state === "Running").length, 3);
});

test("a refused wake gives back its reserved capacity", async () => {
  const [first, second] = [await make("refused-one"), await make("next-one")];
  const running = servers.list().filter(({ spec }) => spec.desiredState === "Running").length;
  const settings = { max_running_servers: running + 1 };
  const failing = depsWith(() => Promise.reject(new Fault("unavailable")), settings);
  assert.equal(await faultOf(wake(failing, first)), "unavailable");
  assert.equal(
    await faultOf(
      wake(
        depsWith(async () => {}, settings),
        second,
      ),
    ),
    "none",
  );
});
