// One server through its life on the cluster: real pods of the demo server, real RCON.

import assert from "node:assert/strict";
import { randomInt, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { resources } from "@svc/kube";
import { staff, velocity } from "@svc/mesh/testing";
import { servers as contracts, type ServerInfo } from "@svc/proto";
import { until } from "../../../libs/mesh/src/testing.ts";
import { servers } from "./cluster/resource.ts";
import { serviceOf } from "./reconcile/objects.ts";
import { type Fixture, namespace, openFixture, type Replica } from "./testing/fixture.ts";

const overrides = [
  "lifecycle.stop_notice=1s",
  "lifecycle.arrival_window=300ms",
  "lifecycle.wake_cooldown=0ms",
  "lifecycle.auto_restart_backoff=300ms",
  "lifecycle.lease_duration=2s",
  "lifecycle.lease_renew=300ms",
];
const name = "survival";

let fixture: Fixture;
let first: Replica;
before(async () => {
  fixture = await openFixture();
  first = await fixture.start(overrides);
});
after(() => fixture.close());

const read = (): Promise<ServerInfo> => fixture.internal.call(contracts.readStatus, { name }, velocity);
const getServer = () => fixture.kube.get(servers, { name, namespace });
const notes = async () =>
  (await fixture.kube.list(resources.events, { namespace })).items.map(({ reason }) => reason);
const wake = () => fixture.external.call(contracts.wake, { name }, staff);
const stop = () => fixture.external.call(contracts.stop, { name }, staff);
const isIn = (phase: string, withinMs = 30_000) =>
  until(async () => (await read()).phase === phase, withinMs);

// The clusters of other test processes assign the same loopback addresses in order; ours is random.
async function makeService(): Promise<void> {
  const service = serviceOf(await getServer(), true);
  const clusterIP = `127.${randomInt(100, 111)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  await fixture.kube.create(resources.services, { ...service, spec: { ...service.spec, clusterIP } });
}

test("a server starts, is reached over RCON and has an address", async () => {
  await fixture.external.call(contracts.create, { name, subdomain: name, memory: "1Gi" }, staff);
  await makeService();
  await wake();
  await isIn("Running");
  const info = await read();
  assert.equal(info.ready, true);
  assert.match(info.endpointAddress ?? "", /^127\.\d+\.\d+\.\d+:25565$/);
  assert.deepEqual([info.playersOnline, info.playersMax], [0, 20]);
  const { p50 = 0, p95 = 0 } = info.startEstimate ?? {};
  assert.ok(p50 >= 1 && p95 >= p50, `${p50} and ${p95} s`);
  assert.deepEqual([info.startRequestedAt, info.conditions], [undefined, undefined]);
  await until(async () => (await notes()).includes("RconReached"));
  assert.match(await first.registry.metrics(), /svc_start_duration_seconds_count 1/);
  assert.match(
    await first.registry.metrics(),
    /svc_server_phase\{server="survival",role="",phase="Running",desired="Running"\} 1/,
  );
});

test("its Secret is Opaque, 32 hex digits, and belongs to the server", async () => {
  const secret = await fixture.kube.get(resources.secrets, { name: `${name}-rcon`, namespace });
  assert.equal(secret.type, "Opaque");
  assert.match(Buffer.from(secret.data?.["password"] ?? "", "base64").toString(), /^[0-9a-f]{32}$/);
  assert.equal(secret.metadata.ownerReferences?.[0]?.name, name);
});

test("after its pod dies a server returns to Running through Starting", async () => {
  await fixture.kube.remove(resources.pods, { name: `${name}-0`, namespace }, { gracePeriodSeconds: 0 });
  await isIn("Starting");
  await isIn("Running");
});

test("an empty server is stopped when its idle time is up, and its world stays", async () => {
  await fixture.kube.patch(
    servers,
    { name, namespace },
    { merge: { spec: { idle: { autoStopEnabled: true, emptySecondsBeforeStop: 1 } } } },
  );
  await fixture.internal.call(contracts.reportJoin, { name, mc_uuid: randomUUID() }, velocity);
  await isIn("Stopped");
  assert.equal((await getServer()).spec.desiredState, "Stopped");
  await until(async () => (await notes()).includes("IdleStop"));
  assert.ok(await fixture.kube.find(resources.claims, { name: `world-${name}-0`, namespace }));
  await fixture.external.call(contracts.patch, { name, idleStopSeconds: 0 }, staff);
});

test("a start that never succeeds fails, is retried automatically, and gives up", async () => {
  await fixture.external.call(
    contracts.patch,
    { name, image: "svc.local/nothing:1", confirmImageChange: true },
    staff,
  );
  const merge = { spec: { startup: { timeoutSeconds: 1, readinessTimeoutSeconds: 1 } } };
  await fixture.kube.patch(servers, { name, namespace }, { merge });
  await wake();
  await isIn("Failed");
  await until(async () => (await read()).startGaveUp === true, 30_000);
  const failed = await read();
  assert.equal(failed.autoRestarts, 3);
  const pod = failed.conditions?.find(({ type }) => type === "PodStarted");
  assert.equal(pod?.reason, "ImagePullFailed", pod?.message);
  assert.ok(failed.startEstimate, "a failed start teaches nothing and forgets nothing");
  await until(async () => (await notes()).includes("AutoRestart"));
});

test("changed settings start it over", async () => {
  await fixture.external.call(
    contracts.patch,
    { name, image: "svc.local/demo-server:1.21.4", confirmImageChange: true },
    staff,
  );
  const merge = { spec: { startup: { timeoutSeconds: 60, readinessTimeoutSeconds: 60 } } };
  await fixture.kube.patch(servers, { name, namespace }, { merge });
  await isIn("Running");
  assert.equal((await read()).autoRestarts, undefined);
});

test("a spec that only the API server rejects is InvalidSpec, until it is corrected", async () => {
  const metadata = { name: "unbuildable", namespace };
  const rcon = { enabled: true, secretRef: { name: "No_Name", key: "password" } };
  const spec = {
    subdomain: "unbuildable",
    image: "svc.local/nothing:1",
    desiredState: "Running" as const,
    rcon,
  };
  const head = { apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" };
  await fixture.kube.create(servers, { ...head, metadata, spec });
  const reasonOf = async () => {
    const { status } = await fixture.kube.get(servers, metadata);
    return `${status?.phase} ${status?.conditions?.find(({ type }) => type === "Ready")?.reason}`;
  };
  await until(async () => (await reasonOf()) === "Failed InvalidSpec");
  await fixture.kube.patch(servers, metadata, { merge: { spec: { rcon: null } } });
  await until(async () => (await reasonOf()) === "Starting PodNotReady");
  await fixture.kube.patch(servers, metadata, { merge: { spec: { desiredState: "Stopped" } } });
});

test("another replica takes over when the leader leaves, and stops the server", async () => {
  const second = await fixture.start(overrides);
  await first.stop();
  await stop();
  await isIn("Stopped");
  assert.equal(await second.running.notReady?.(), undefined);
});
