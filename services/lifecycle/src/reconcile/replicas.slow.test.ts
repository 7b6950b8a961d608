// Replicas share the work without repeating it, and a lost leader is replaced.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { servers } from "../cluster/resource.ts";
import { type FakeNode, startFakeNode } from "../testing/fake-node.ts";
import { fastSettings } from "../testing/fast-settings.ts";
import { startTestCluster, type TestCluster } from "../testing/fixture.ts";
import {
  type Counts,
  type OperatorFixture,
  type OperatorReplica,
  openOperatorFixture,
} from "../testing/operator-fixture.ts";

const namespace = "minecraft";
/** Each start and each stop probes once; nothing is probed by timer, and no start fails because thirty take long. */
const steady = [
  ...fastSettings,
  ...["count_interval", "arrival_window", "startup_timeout"].map((name) => `lifecycle.${name}=60s`),
];
/** A new leader knows no count and asks every running server at once: here nobody stops leading on a slow machine. */
const lasting = [...steady, "lifecycle.lease_duration=60s"];

let cluster: TestCluster;
let operators: OperatorFixture;
let node: FakeNode;
before(async () => {
  cluster = await startTestCluster({ nodes: 0 });
  operators = await openOperatorFixture({ ...cluster, namespace });
  node = await startFakeNode({ kube: operators.kube, namespace, getsReady: () => true });
});
after(async () => {
  await node.stop();
  await operators.close();
  await cluster.close();
});

const change = (name: string, desiredState: string) =>
  operators.kube.patch(servers, { name, namespace }, { merge: { spec: { desiredState } } });
const allIn = (names: readonly string[], phase: string, withinMs = 30_000) =>
  until(async () => {
    const { items } = await operators.kube.list(servers, { namespace });
    return items
      .filter(({ metadata }) => names.includes(metadata.name))
      .every(({ status }) => status?.phase === phase);
  }, withinMs);

type Cost = Counts & { events: number };

async function costOf(names: readonly string[]): Promise<Cost> {
  const before = { ...operators.counts };
  const count = async () => {
    const rows = await operators.database.admin(
      "select count(*)::int as n from lifecycle.outbox where subject like '%phase-changed%'",
    );
    return Number(rows[0]?.["n"]);
  };
  const events = await count();
  for (const name of names) await operators.makeServer(name, { desiredState: "Running" });
  await allIn(names, "Running");
  await Promise.all(names.map((name) => change(name, "Stopped")));
  await allIn(names, "Stopped");
  // new (Unknown) -> Starting -> Running -> Stopping -> Stopped
  await until(async () => (await count()) - events >= 4 * names.length);
  const { writes, probes, saves } = operators.counts;
  return {
    writes: writes - before.writes,
    probes: probes - before.probes,
    saves: saves - before.saves,
    events: (await count()) - events,
  };
}

test("three replicas write and probe no more than one", async (t) => {
  const named = (prefix: string) => Array.from({ length: 30 }, (_, index) => `${prefix}-${index}`);
  const first = await operators.start(lasting);
  // After a failure it would keep leading in the next test.
  t.after(() => first.stop());
  await until(() => first.operator.isLeading());
  const one = await costOf(named("one"));
  const others = [await operators.start(lasting), await operators.start(lasting)];
  t.after(() => Promise.all(others.map((replica) => replica.stop())));
  const three = await costOf(named("three"));
  t.diagnostic(`one replica ${JSON.stringify(one)}, three ${JSON.stringify(three)}`);
  assert.deepEqual([one.saves, three.saves], [30, 30]);
  // On a slow machine a server may pass through a phase twice.
  assert.deepEqual([one.events, three.events], [120, 120]);
  for (const key of ["writes", "probes"] as const) {
    const share = three[key] / one[key];
    assert.ok(share > 0.95 && share < 1.05, `${key}: ${one[key]} with one replica, ${three[key]} with three`);
  }
  const leading = [first, ...others].filter(({ operator }) => operator.isLeading());
  assert.equal(leading.length, 1);
});

test("each start counts once, whether its leader crashes before or after any write of the status", async (t) => {
  const name = "counted";
  await operators.makeServer(name);
  const starts = () =>
    operators.kube.get(servers, { name, namespace }).then(({ status }) => status?.startDurations);
  let replica = await operators.start(steady);
  t.after(() => replica.stop());
  await allIn([name], "Stopped");
  const crashes = [1, 2].flatMap((nth) => [true, false].map((isSent) => ({ nth, isSent })));
  for (const [index, { nth, isSent }] of crashes.entries()) {
    let left = nth;
    const crashed = new Promise<void>((resolve) => {
      operators.fakeServers.beforeWrite = async (verb) => {
        if (verb !== "replaceStatus" || --left !== 0) return;
        operators.fakeServers.beforeWrite = undefined;
        // A write that was sent arrives; nothing after it does.
        const ended = replica.crash();
        void ended.then(resolve);
        if (!isSent) throw new Error("the replica has crashed");
      };
    });
    await change(name, "Running");
    await crashed;
    replica = await operators.start(steady);
    await allIn([name], "Running");
    await until(async () => (await starts())?.seconds.length === index + 1);
    await change(name, "Stopped");
    await allIn([name], "Stopped");
  }
  assert.equal((await starts())?.seconds.length, crashes.length);
});

test("a crashed leader is replaced within 15 s, with the shipped settings", async (t) => {
  const shipped = ["lifecycle.stop_notice=100ms"];
  const replicas: OperatorReplica[] = [await operators.start(shipped), await operators.start(shipped)];
  await until(() => replicas.some(({ operator }) => operator.isLeading()), 15_000);
  const leader = replicas.find(({ operator }) => operator.isLeading());
  await leader?.crash();
  const startedAt = performance.now();
  await operators.makeServer("orphan", { desiredState: "Running" });
  await allIn(["orphan"], "Running", 15_000);
  t.diagnostic(`followed and started after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  assert.ok(replicas.some((replica) => replica !== leader && replica.operator.isLeading()));
});
