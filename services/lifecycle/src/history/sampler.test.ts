// Each source of a sample fails alone. What is written where is in store.test.ts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KubeError } from "@svc/kube";
import { Fault } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import type { Server } from "../cluster/resource.ts";
import { aServer, emptyRunning } from "../testing/observed.ts";
import type { PlatformSample, Sample } from "./sample.ts";
import { createSampler, type SamplerDeps } from "./sampler.ts";
import { minuteMs } from "./step.ts";

const begin = Date.parse("2026-03-02T10:00:00.000Z");
const conditions = [{ type: "PlayersCounted", status: "True", reason: "Counted", message: "" }];
const running = {
  ...aServer(),
  status: {
    ...emptyRunning,
    players: { online: 3, max: 20 },
    conditions,
    readySignalAt: "2026-03-02T09:00:00.000Z",
  },
} as Server;
const { name } = running.metadata;
const podMetrics = {
  apiVersion: "metrics.k8s.io/v1beta1",
  kind: "PodMetrics",
  metadata: { name: `${name}-0` },
  containers: [{ name: "minecraft", usage: { cpu: "500m", memory: "1Gi" } }],
};
const usage = { memoryMib: 1_024, cpuMilli: 500 };

type World = {
  servers: Server[];
  isLive: boolean;
  isLeading: boolean;
  metrics: () => unknown;
  record: (samples: readonly Sample[]) => void;
};

function open(changes: Partial<World> = {}) {
  const world: World = {
    ...{ servers: [running], isLive: true, isLeading: true, record: () => {} },
    metrics: () => ({ items: [podMetrics], resourceVersion: "" }),
    ...changes,
  };
  const clock = { now: begin };
  const written = { samples: [] as Sample[], platform: [] as PlatformSample[], sweeps: 0, metricsReads: 0 };
  const deps: SamplerDeps = {
    kube: {
      list: (async () => {
        written.metricsReads += 1;
        return world.metrics();
      }) as SamplerDeps["kube"]["list"],
    },
    namespace: "minecraft",
    servers: { list: () => world.servers, isLive: () => world.isLive },
    history: {
      record: async (_at, samples) => {
        world.record(samples);
        written.samples.push(...samples);
      },
      recordPlatform: async (_at, sample) => void written.platform.push(sample),
      sweep: async () => {
        written.sweeps += 1;
      },
      readServer: async () => [],
      readPhases: async () => [],
      readPlatform: async () => [],
      readStarts: async () => [],
    },
    ticks: { read: async (servers) => new Map(servers.map(({ metadata }) => [metadata.name, 20])) },
    isLeading: () => world.isLeading,
    intervalMs: minuteMs,
    registry: createRegistry("lifecycle", "test"),
    log: createLogger("lifecycle", "silent"),
    now: () => clock.now,
  };
  const sampler = createSampler(deps);
  return { world, clock, written, sample: () => sampler.sample(new AbortController().signal) };
}

test("a sample has players and usage each minute, ticks once in a step, and sweeps once an hour", async () => {
  const { clock, written, sample } = open();
  for (let minute = 0; minute < 6; minute += 1) {
    clock.now = begin + minute * minuteMs;
    await sample();
  }
  assert.deepEqual(
    written.samples.filter(({ tps }) => tps === undefined),
    Array(6).fill({ name, players: 3, usage }),
  );
  assert.deepEqual(
    written.samples.filter(({ tps }) => tps !== undefined),
    Array(2).fill({ name, tps: 20 }),
  );
  assert.deepEqual([written.platform.length, written.sweeps], [6, 1]);
});

test("nothing is sampled by a replica that does not lead, nor from a copy that is not current", async () => {
  for (const away of [{ isLeading: false }, { isLive: false }]) {
    const { written, sample } = open(away);
    await sample();
    assert.deepEqual(written, { samples: [], platform: [], sweeps: 0, metricsReads: 0 });
  }
});

test("a fleet that sleeps is neither measured nor asked", async () => {
  const asleep = { ...running, status: { ...running.status, phase: "Stopped" as const, ready: false } };
  const { written, sample } = open({ servers: [asleep] });
  await sample();
  assert.deepEqual([written.samples, written.metricsReads], [[], 0]);
  assert.deepEqual(written.platform, [{ awake: 0, players: 0 }]);
});

test("a server that has just started is not asked for its ticks", async () => {
  const status = { ...running.status, readySignalAt: new Date(begin - minuteMs + 1).toISOString() };
  const { written, sample } = open({ servers: [{ ...running, status }] });
  await sample();
  assert.deepEqual(written.samples, [{ name, players: 3, usage }]);
});

test("without a metrics API usage stays a gap, and it is asked for again after ten minutes", async () => {
  const metrics = () => {
    throw new KubeError(404, "NotFound", "the server could not find the requested resource");
  };
  const { clock, written, sample } = open({ metrics });
  await sample();
  clock.now += 9 * minuteMs;
  await sample();
  assert.equal(written.metricsReads, 1);
  clock.now += 2 * minuteMs;
  await sample();
  assert.equal(written.metricsReads, 2);
  assert.ok(written.samples.some(({ players, usage }) => players === 3 && usage === undefined));
});

test("a metrics API that fails, and a write that is lost, leave gaps and stop nothing else", async () => {
  const metrics = () => {
    throw new Fault("unavailable");
  };
  const { world, clock, written, sample } = open({ metrics });
  await sample();
  assert.deepEqual(written.samples, [
    { name, players: 3, usage: undefined },
    { name, tps: 20 },
  ]);
  written.samples.length = 0;
  world.record = () => {
    throw new Fault("unavailable");
  };
  clock.now += minuteMs;
  await sample();
  assert.deepEqual([written.samples.length, written.platform.length], [0, 2]);
  world.record = () => {};
  clock.now += minuteMs;
  await sample();
  assert.equal(written.samples.length, 1);
});
