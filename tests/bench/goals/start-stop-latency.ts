// G14: how long lifecycle itself takes for a start and a stop, on a running stack: the owner's wake until it is
// accepted; from that moment until the set of the server asks for its pod; and from an accepted stop of an empty server
// until the set asks for none. The embedded cluster's own time for the four or five writes in between is part of the
// last two figures, so they are upper bounds. Where things happen is read off a watch with all rights.

import { connectKube, resources, startInformer } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { createLogger } from "@svc/telemetry";
import type { Goal } from "../harness/bench.ts";
import type { BenchStack } from "../harness/stack.ts";
import { median } from "../harness/statistics.ts";

const namespace = "minecraft";

type Times = { acceptedMs: number; startMs: number; stopMs: number };

/** Tells when the set of a server first asked for so many pods. */
function watchSets(stack: BenchStack) {
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  const seen = new Map<string, number>();
  const informer = startInformer({
    kube,
    namespace,
    resource: resources.statefulSets,
    log: createLogger("bench", "silent"),
    onChange: (name, now) => {
      const key = `${name} ${now?.spec.replicas ?? 0}`;
      if (!seen.has(key)) seen.set(key, performance.now());
    },
  });
  return {
    ready: informer.ready,
    forget: (name: string) => [0, 1].forEach((replicas) => void seen.delete(`${name} ${replicas}`)),
    at: (name: string, replicas: number) =>
      until(() => seen.get(`${name} ${replicas}`), 30_000, `${name} to ask for ${replicas}`),
    stop: async () => {
      await informer.stop();
      kube.close();
    },
  };
}

async function phaseIs(stack: BenchStack, name: string, phase: string): Promise<void> {
  await until(
    async () => {
      const { body } = await stack.internal("GET", `/api/v1/internal/servers/${name}/status`);
      return (body as { phase?: string }).phase === phase;
    },
    120_000,
    `${name} to be ${phase}`,
  );
}

async function once(stack: BenchStack, sets: ReturnType<typeof watchSets>, name: string): Promise<Times> {
  await stack.ensureServer(name);
  await phaseIs(stack, name, "Stopped");
  sets.forget(name);
  const askedAt = performance.now();
  const { status } = await stack.external("POST", `/api/v1/servers/${name}/wake`);
  const acceptedAt = performance.now();
  if (status !== 202) throw new Error(`waking ${name} answered ${status}`);
  const startMs = (await sets.at(name, 1)) - acceptedAt;
  await phaseIs(stack, name, "Running");
  sets.forget(name);
  await stack.external("POST", `/api/v1/servers/${name}/stop`);
  const stoppedAt = performance.now();
  const stopMs = (await sets.at(name, 0)) - stoppedAt;
  await phaseIs(stack, name, "Stopped");
  return { acceptedMs: acceptedAt - askedAt, startMs: Math.max(0, startMs), stopMs: Math.max(0, stopMs) };
}

export const startStopLatency: Goal = {
  name: "G14",
  title: "start and stop without the server's own time",
  run: async (bench) => {
    const stack = await bench.stack();
    const sets = watchSets(stack);
    await sets.ready;
    const times: Times[] = [];
    try {
      for (let turn = 1; turn <= (bench.options.isQuick ? 2 : 7); turn += 1)
        times.push(await once(stack, sets, `bench-intent-${turn}`));
    } finally {
      await sets.stop();
    }
    const row = { goal: "G14", unit: "ms" };
    const bound = { bound: "at most", of: "figure" } as const;
    return [
      {
        ...row,
        what: "start accepted, p50",
        ours: median(times.map(({ acceptedMs }) => acceptedMs)),
        limit: { ...bound, goal: 10, stretch: 5 },
      },
      {
        ...row,
        what: "start accepted -> set asks for its pod, p50",
        ours: median(times.map(({ startMs }) => startMs)),
        limit: { ...bound, goal: 50, stretch: 25 },
        note: "with the embedded cluster's own time",
      },
      {
        ...row,
        what: "stop of an empty server -> set asks for none, p50",
        ours: median(times.map(({ stopMs }) => stopMs)),
        limit: { ...bound, goal: 50, stretch: 25 },
        note: "with one count over RCON and a save",
      },
    ];
  },
};
