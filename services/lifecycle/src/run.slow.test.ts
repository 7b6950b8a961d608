// One server through its life on the cluster: real pods of the demo server, real RCON.

import assert from "node:assert/strict";
import { randomInt, randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { resources } from "@svc/kube";
import type { CallOptions } from "@svc/mesh";
import { account, faultOf, staff, velocity } from "@svc/mesh/testing";
import { consoles, servers as contracts, crashes, restartPolicies, type ServerInfo } from "@svc/proto";
import { connectRcon } from "@svc/rcon";
import { until } from "../../../libs/mesh/src/testing.ts";
import { servers } from "./cluster/resource.ts";
import { serviceOf } from "./reconcile/objects.ts";
import { type Fixture, namespace, openFixture, type Replica } from "./testing/fixture.ts";
import { gameProcessOf } from "./testing/game-process.ts";

const overrides = [
  "lifecycle.stop_notice=1s",
  "lifecycle.arrival_window=300ms",
  "lifecycle.wake_cooldown=0ms",
  "lifecycle.auto_restart_backoff=300ms",
  "lifecycle.lease_duration=2s",
  "lifecycle.lease_renew=300ms",
  "lifecycle.history_sample=1h",
  "lifecycle.probe_timeout=1s",
  "lifecycle.probe_retry=200ms",
  "lifecycle.count_interval=500ms",
];
const name = "survival";

let fixture: Fixture;
let first: Replica;
/** How far the clock of the passes is ahead, milliseconds. */
let aheadMs = 0;
const startReplica = () => fixture.start(overrides, undefined, () => Date.now() + aheadMs);
before(async () => {
  fixture = await openFixture();
  first = await startReplica();
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
  const env = [{ name: "DEMO_FAULTS", value: "on" }];
  await fixture.kube.patch(servers, { name, namespace }, { merge: { spec: { env } } });
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

describe("a crash", () => {
  const list = async () =>
    (await fixture.external.call(crashes.list, { name }, staff)).crashes.map(({ id, at: _at, ...rest }) => ({
      id,
      ...rest,
    }));
  const command = (text: string) =>
    fixture.external.call(consoles.command, { name, command: text }, staff).catch(() => undefined);
  const passwordOf = async () => {
    const secret = await fixture.kube.get(resources.secrets, { name: `${name}-rcon`, namespace });
    return Buffer.from(secret.data?.["password"] ?? "", "base64").toString();
  };
  /** After what a test did, until the server runs in a new process. */
  const restarted = async (number: number) => {
    await until(async () => {
      const pod = await fixture.kube.get(resources.pods, { name: `${name}-0`, namespace });
      const [game] = pod.status?.containerStatuses ?? [];
      return game?.restartCount === number && game.state?.running !== undefined;
    });
    await isIn("Running");
  };

  test("is reported once, with cause, exit code, memory and last lines without secrets", async () => {
    const password = await passwordOf();
    await fixture.database.admin(`insert into lifecycle.server_history
      select '${name}', date_bin('5 minutes', now(), timestamptz 'epoch'), 5, 1, 0, 0, 1200, 100, 0, 2, 0`);
    await command(
      `crash 3 the password is ${password}|token=abc123|java.lang.OutOfMemoryError: Java heap space`,
    );
    await until(async () => (await list()).length === 1);
    const [{ id, ran_seconds, ...report } = assert.fail()] = await list();
    assert.deepEqual(report, {
      ...{
        cause: "java_heap",
        detail: "Java heap space",
        exit_code: 3,
        exit_reason: "Error",
        was_running: true,
      },
      ...{ memory_bytes: 600 * 2 ** 20, memory_limit_bytes: 2 ** 30 },
    });
    assert.ok(ran_seconds >= 0);
    const { lines, cause } = await fixture.external.call(crashes.read, { name, id }, staff);
    assert.equal(cause, "java_heap");
    const text = lines.join("\n");
    assert.match(text, /Done \([\d.]+s\)!/, "the lines begin before the crash");
    assert.match(text, /the password is \[secret\]\n.*token=\[secret\]\n.*Java heap space$/);
    await restarted(1);
    assert.equal((await list()).length, 1);
    const [event] = await fixture.database.admin(
      "select body from lifecycle.outbox where subject like 'svc.evt.lifecycle.crash.recorded.%'",
    );
    assert.match(String(event?.["body"]), new RegExp(`"id":"${id}"`));
    assert.match(await first.registry.metrics(), /svc_server_crashes_total\{cause="java_heap"\} 1/);
  });

  test("that nobody saw is reported by the next leader, and one that is known is not repeated", async () => {
    await first.stop();
    const pod = { name: `${name}-0`, namespace };
    const secret = await passwordOf();
    const { status } = await getServer();
    const host = status?.endpoint?.address?.split(":")[0] ?? "";
    const rcon = await connectRcon({ host, port: 25_575, password: secret });
    await rcon.command("crash 1 **** FAILED TO BIND TO PORT!").catch(() => {});
    await until(async () => {
      const [game] = (await fixture.kube.get(resources.pods, pod)).status?.containerStatuses ?? [];
      return game?.restartCount === 2 && game.state?.running !== undefined;
    });
    first = await startReplica();
    await until(async () => (await list()).length === 2);
    assert.deepEqual(
      (await list()).map(({ cause }) => cause),
      ["port_in_use", "java_heap"],
    );
    await isIn("Running");
  });

  test("is no end that somebody asked for: the server's own stop, and a new pod", async () => {
    await command("stop");
    await restarted(3);
    await fixture.external.call(contracts.stop, { name }, staff);
    await isIn("Stopped");
    await wake();
    await isIn("Running");
    assert.equal((await list()).length, 2);
  });

  test("is read by the owner since the claim and by staff, and by nobody else", async () => {
    const [{ id } = assert.fail()] = await list();
    const owner = account("usr-crash-owner");
    const claim = "update lifecycle.servers set owner_id = 'usr-crash-owner', claimed_at =";
    await fixture.database.admin(`${claim} now() - interval '1 hour' where name = '${name}'`);
    assert.equal((await fixture.external.call(crashes.list, { name }, owner)).crashes.length, 2);
    await fixture.database.admin(`${claim} now() + interval '1 hour' where name = '${name}'`);
    assert.deepEqual((await fixture.external.call(crashes.list, { name }, owner)).crashes, []);
    const read = (who: CallOptions, which: string) =>
      fixture.external.call(crashes.read, { name, id: which }, who);
    assert.equal(await faultOf(read(owner, id)), "not_found");
    assert.equal(await faultOf(read(account("usr-stranger"), id)), "forbidden");
    assert.equal(await faultOf(read(staff, "6f0c4e0a-53f0-4b0e-9a55-0d1d36e4c1de")), "not_found");
    assert.equal(await faultOf(read(staff, "'; drop table")), "not_found");
    assert.equal(await faultOf(fixture.external.call(crashes.list, { name: "nosuch" }, staff)), "not_found");
    await fixture.database.admin(
      `update lifecycle.servers set owner_id = null, claimed_at = null where name = '${name}'`,
    );
  });
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

describe("a server that hangs", () => {
  const setPolicy = (when_hung: "restart" | "restart_if_silent", after_crash: "restart" | "stop") =>
    fixture.external.call(restartPolicies.write, { name, when_hung, after_crash, silent_minutes: 5 }, staff);
  const run = (command: string) =>
    fixture.external.call(consoles.command, { name, command }, staff).catch(() => undefined);
  const hangs = async () =>
    (await fixture.external.call(crashes.list, { name }, staff)).crashes.filter(
      ({ cause }) => cause === "hung",
    );
  const podOf = async () =>
    (await fixture.kube.get(resources.pods, { name: `${name}-0`, namespace })).metadata.uid;
  const spec = {
    startup: { timeoutSeconds: 60, readinessTimeoutSeconds: 2 },
    lifecycle: { terminationGracePeriodSeconds: 1 },
  };

  test("has a policy that its owner and staff set, and nobody else", async () => {
    const standard = { after_crash: "restart", when_hung: "restart", silent_minutes: 10 };
    assert.deepEqual(await fixture.external.call(restartPolicies.read, { name }, staff), standard);
    const stranger = account("usr-stranger");
    assert.equal(await faultOf(fixture.external.call(restartPolicies.read, { name }, stranger)), "forbidden");
    const wanted = { after_crash: "stop", when_hung: "leave", silent_minutes: 30 } as const;
    const write = (who: CallOptions, body: object) =>
      fixture.external.call(restartPolicies.write, { name, ...wanted, ...body }, who);
    assert.equal(await faultOf(write(stranger, {})), "forbidden");
    for (const wrong of [{ silent_minutes: 4 }, { silent_minutes: 121 }, { when_hung: "kill" }])
      assert.equal(await faultOf(write(staff, wrong)), "bad_request");
    assert.deepEqual(await write(staff, {}), wanted);
    assert.deepEqual(await fixture.external.call(restartPolicies.read, { name }, staff), wanted);
    assert.ok((await fixture.audits()).some(({ action }) => action === "server.restart_policy"));
  });

  test("is reported, left alone while its policy waits for silence, and goes on when it answers again", async () => {
    await stop();
    await isIn("Stopped");
    await fixture.kube.patch(servers, { name, namespace }, { merge: { spec } });
    await wake();
    await isIn("Running");
    await setPolicy("restart_if_silent", "restart");
    const before = await podOf();
    // Times of containers are whole seconds: what hangs within two of its start counts as a start that is late.
    await delay(2_500);
    await run("hang 15");
    await isIn("Failed");
    await until(async () => (await hangs()).length === 1);
    const [{ id, was_running, exit_code } = assert.fail()] = await hangs();
    assert.deepEqual([was_running, exit_code], [true, undefined]);
    const { lines } = await fixture.external.call(crashes.read, { name, id }, staff);
    assert.match(lines.join("\n"), /Done \(/);
    await isIn("Running", 60_000);
    assert.equal(await podOf(), before, "its process was left alone");
    assert.equal((await hangs()).length, 1);
  });

  test("gets a new pod by default, however it clings to the old one", async () => {
    await setPolicy("restart", "restart");
    const before = await podOf();
    await run("hang 3600");
    await isIn("Failed");
    await until(async () => {
      const now = await podOf().catch(() => before);
      return now !== before;
    });
    await isIn("Running", 60_000);
  });

  test("is killed once its log is silent, although it is frozen, and what its watchdog says is no life", async () => {
    await setPolicy("restart_if_silent", "restart");
    const before = (await podOf()) ?? "";
    const game = gameProcessOf(fixture, before);
    await delay(2_500);
    const known = (await hangs()).length;
    game.freeze();
    await isIn("Failed");
    await until(async () => (await hangs()).length === known + 1);
    const message = async () =>
      (await read()).conditions?.find(({ type }) => type === "Ready")?.message ?? "";
    await until(async () => (await message()).includes("left alone until its log is silent"));
    const silentMs = 11 * 60_000;
    // Printed just now, by the clock of the passes.
    const dump = "[12:00:00] [Server Watchdog/FATAL]: A single server tick took 60.00 seconds";
    await game.says(dump, Date.now() + silentMs);
    assert.equal(await podOf(), before, "left alone so far");
    aheadMs = silentMs;
    try {
      await until(async () => ((await podOf().catch(() => before)) ?? before) !== before, 30_000);
    } finally {
      aheadMs = 0;
    }
    // A frozen process takes no SIGTERM; it was killed when its second was over.
    assert.equal(game.isAlive(), false);
    await isIn("Running", 60_000);
    assert.equal((await hangs()).length, known + 1);
  });

  test("stays stopped after a crash where its policy says so", async () => {
    await setPolicy("restart", "stop");
    await run("crash 1");
    await isIn("Stopped");
    assert.equal((await getServer()).spec.desiredState, "Stopped");
    const [newest] = (await fixture.external.call(crashes.list, { name }, staff)).crashes;
    assert.equal(newest?.exit_code, 1);
    await setPolicy("restart", "restart");
    await wake();
    await isIn("Running");
  });
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
