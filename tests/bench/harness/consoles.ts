// The parts of the console goals beside a fixture: a cluster of logs, lifecycle's consoles, viewers, and bare SSE.

import { randomInt } from "node:crypto";
import { join } from "node:path";
import type { StreamPlan, StreamResult } from "../load/streams.ts";
import { type Child, startChild } from "./child.ts";
import type { Fixture } from "./fixture.ts";
import type { Pace } from "./line-rate.ts";

export type Consoles = {
  cluster: Child;
  lifecycle: Child;
  viewers: Child;
  bare: Child & { port: number };
  /** Prints to the viewers of `bare` over one bus hop. */
  publisher: Child;
  /** How a person at the operator console asks. */
  headers: Record<string, string>;
  stop: () => Promise<void>;
};

export async function startConsoles(fixture: Fixture): Promise<Consoles> {
  const logDir = join(fixture.dir, "logs");
  const env = { BENCH_RCON_HOST: `127.93.${randomInt(1, 255)}.${randomInt(1, 255)}` };
  const cluster = await startChild("subjects/log-cluster.ts", { logDir, env });
  const kubeconfig = await cluster.ask<string>("kubeconfig");
  const lifecycle = await fixture.consoles({ ...env, BENCH_KUBECONFIG: kubeconfig });
  const viewers = await startChild("load/streams.ts", { logDir });
  const bare = await startChild("anchors/sse.ts", { logDir, env: fixture.anchorNats });
  const publisher = await startChild("anchors/line-publisher.ts", { logDir, env: fixture.anchorNats });
  return {
    ...{ cluster, lifecycle, viewers, publisher },
    bare: { ...bare, port: await bare.ask<number>("port") },
    headers: { host: "op.console.svc.localhost", cookie: fixture.cookie },
    stop: async () => {
      await Promise.all([cluster, lifecycle, viewers, publisher, bare].map((child) => child.stop()));
    },
  };
}

/** Lets a source print at a pace and answers what the viewers saw of it, once all has arrived. */
export async function watchPace(source: Child, viewers: Child, plan: Pace): Promise<StreamResult> {
  await viewers.ask("take");
  await source.ask<number>("print", plan);
  // The last lines are on their way.
  await new Promise((wake) => setTimeout(wake, 300));
  return viewers.ask<StreamResult>("take");
}

export const openViewers = (viewers: Child, plan: StreamPlan): Promise<void> => viewers.ask("open", plan);
export const closeViewers = (viewers: Child): Promise<void> => viewers.ask("close");
