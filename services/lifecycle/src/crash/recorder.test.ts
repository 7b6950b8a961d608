// What a recorder does when it is killed, or the database or the cluster fails, between any two of its steps. What it reads
// and writes is in run.slow.test.ts and history/store.test.ts.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Kube, KubeError, type Pod } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { createLogger } from "@svc/telemetry";
import type { Server } from "../cluster/resource.ts";
import { aPod, aServer, defaults, secondsBefore } from "../testing/observed.ts";
import { type CrashRecorder, startCrashRecorder } from "./recorder.ts";
import type { CrashStore } from "./store.ts";

type Step = "facts" | "log" | "stop" | "report";

const open: CrashRecorder[] = [];
after(() => Promise.all(open.map((recorder) => recorder.close())));

/** A server whose process ended with code 1; any step fails as often as `failing` says. */
function world(failing: Partial<Record<Step, number>>, spec: object = {}) {
  const left = new Map(Object.entries(failing));
  const [done, failed]: [Step[], Step[]] = [[], []];
  const reports = new Map<string, { cause: string }>();
  const follows: string[] = [];
  const step = (name: Step) => {
    const times = left.get(name) ?? 0;
    left.set(name, times - 1);
    if (times > 0) {
      failed.push(name);
      throw new KubeError(500, "", `${name} failed`);
    }
    done.push(name);
  };
  let server = aServer(spec) as Server;
  const pod: Pod = { ...aPod({ isReady: false }) };
  const terminated = {
    exitCode: 1,
    startedAt: secondsBefore(60),
    finishedAt: secondsBefore(5),
    containerID: "c",
  };
  pod.status = { containerStatuses: [{ name: "minecraft", restartCount: 0, state: { terminated } }] };
  const informer = <T>(get: () => T) => ({ get, remember: (now: Server) => (server = now) }) as never;
  const crashes: Pick<CrashStore, "factsOf" | "record"> = {
    factsOf: async (_name, { key }) => {
      step("facts");
      return { isRecorded: reports.has(key), wasRunning: true, memoryMib: undefined, tps: undefined };
    },
    record: async ({ run, cause }, after) => {
      step("report");
      assert.ok(!reports.has(run), "twice");
      reports.set(run, { cause });
      follows.push(after);
    },
  };
  const kube = {
    // The pod is gone by then, so that there is no log.
    find: async () => step("log"),
    patch: async () => {
      step("stop");
      return { ...server, spec: { ...server.spec, desiredState: "Stopped" } };
    },
  } as unknown as Kube;
  const start = () => {
    const recorder = startCrashRecorder({
      kube,
      watched: { servers: informer(() => server), pods: informer(() => pod) },
      crashes: crashes as CrashStore,
      settings: defaults,
      namespace: "minecraft",
      metrics: { recorded: () => {} },
      log: createLogger("lifecycle", "silent"),
      now: () => Date.parse(secondsBefore(0)),
    });
    open.push(recorder);
    recorder.changed("survival");
    return recorder;
  };
  return { start, done, failed, reports, follows, desiredState: () => server.spec.desiredState };
}

const stops = { restart: { afterCrash: "stop" } } as const;

for (const failing of ["facts", "log", "stop", "report"] as const)
  test(`a report is written once, and the server stopped, when ${failing} fails at first`, async () => {
    const { start, reports, desiredState } = world({ [failing]: 1 }, stops);
    start();
    await until(() => reports.size === 1);
    assert.equal(desiredState(), "Stopped");
  });

for (const failing of ["facts", "log", "stop", "report"] as const)
  test(`a replica that ends when ${failing} has failed leaves the report to the next one`, async () => {
    const { start, done, failed, reports, desiredState } = world({ [failing]: 1 }, stops);
    const first = start();
    await until(() => failed.length === 1);
    await first.close();
    assert.equal(reports.size, 0, `${done}`);
    start();
    await until(() => reports.size === 1);
    assert.equal(desiredState(), "Stopped");
  });

test("a report that is there is not written again, and nothing is stopped a second time", async () => {
  const { start, done, follows } = world({}, stops);
  start();
  await until(() => follows.length === 1);
  assert.deepEqual(follows, ["stopped"]);
  const before = done.length;
  const second = start();
  await until(() => done.length > before);
  await second.close();
  assert.deepEqual(done.slice(before), ["facts"]);
});

test("without a policy nothing is stopped", async () => {
  const { start, done, follows, desiredState } = world({});
  start();
  await until(() => follows.length === 1);
  assert.ok(!done.includes("stop"));
  assert.deepEqual([desiredState(), follows], ["Running", ["restarts"]]);
});
