// G9: a change in the cluster until it shows at a gateway, at 200 changes a second. Ours: a running stack; objects are
// changed with all rights, lifecycle's watch brings them to its view, and the internal gateway's status of the server is
// asked until it says the new text. Every tenth change is followed, so that the followers are not what is measured.
// There is no anchor: the goal is a figure. What a list adds (at most a second) is part of G5.

import { connectKube, resource } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { MinecraftServer } from "@svc/proto";
import { serverName } from "../anchors/servers.ts";
import type { Goal } from "../harness/bench.ts";
import { growFleet, untilQuiet } from "../harness/fleet.ts";
import type { BenchStack } from "../harness/stack.ts";
import { quantile } from "../harness/statistics.ts";

const servers = 200;
const perSecond = 200;
const followEach = 10;
const namespace = "minecraft";
const { group, version, plural, kind } = MinecraftServer;
const about = resource({ group, version, plural, kind, namespaced: true });

async function follow(stack: BenchStack, name: string, text: string): Promise<number> {
  const startedAt = performance.now();
  await until(
    async () => {
      const { body } = await stack.internal("GET", `/api/v1/internal/servers/${name}/status`);
      return (body as { displayName?: string }).displayName === text;
    },
    10_000,
    `${name} to say ${text}`,
  );
  return performance.now() - startedAt;
}

async function changes(stack: BenchStack, count: number): Promise<number[]> {
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  const followed: Promise<number>[] = [];
  const startedAt = performance.now();
  const change = async (index: number) => {
    const name = serverName(index % servers);
    const displayName = `change ${index}`;
    await kube.patch(about, { name, namespace }, { merge: { spec: { displayName } } });
    // The same server comes again a second later; one that is followed must be seen before.
    if (index % followEach === 0) followed.push(follow(stack, name, displayName));
  };
  try {
    const writing: Promise<void>[] = [];
    for (let index = 0; index < count; index++) {
      const dueAt = startedAt + (index * 1_000) / perSecond;
      const waitMs = dueAt - performance.now();
      if (waitMs > 1) await new Promise((wake) => setTimeout(wake, waitMs));
      writing.push(change(index));
    }
    await Promise.all(writing);
    return await Promise.all(followed);
  } finally {
    kube.close();
  }
}

export const clusterChangeVisibility: Goal = {
  name: "G9",
  title: "from a change in the cluster to the gateway",
  run: async (bench) => {
    const stack = await bench.stack();
    await growFleet(stack, 0, servers);
    await untilQuiet([stack.pidOf("lifecycle")]);
    await changes(stack, perSecond);
    const seconds = bench.options.isQuick ? 2 : 10;
    const sorted = Float64Array.from(await changes(stack, perSecond * seconds)).sort();
    const row = { goal: "G9", unit: "ms" };
    return [
      {
        ...row,
        what: `change seen at the gateway at ${perSecond}/s, p99`,
        ours: quantile(sorted, 0.99),
        limit: { bound: "at most", of: "figure", goal: 500, stretch: 250 },
        note: `${sorted.length} followed`,
      },
      { ...row, what: "the same, p50", ours: quantile(sorted, 0.5) },
    ];
  },
};
