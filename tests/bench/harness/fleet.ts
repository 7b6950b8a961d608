// Many servers at once: objects in the cluster and rows in the database, as if each had been created by hand.

import { connectKube, isKubeError, type Kube, type KubeObject, resource } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { MinecraftServer } from "@svc/proto";
import { serverName } from "../anchors/servers.ts";
import { runSql } from "./anchors.ts";
import { watchCpu } from "./process-stats.ts";
import type { BenchStack } from "./stack.ts";

const namespace = "minecraft";
const createAtOnce = 32;
const template = "bench-template";

type Server = KubeObject & { spec: Record<string, unknown> };

const kind = resource<Server>({
  group: MinecraftServer.group,
  version: MinecraftServer.version,
  plural: MinecraftServer.plural,
  kind: MinecraftServer.kind,
  namespaced: true,
});

/** Servers in the proxy's list. */
export async function listedServers(stack: BenchStack): Promise<number> {
  const { body } = await stack.internal("GET", "/api/v1/servers");
  return (body as { servers: unknown[] }).servers.length;
}

/** Brings the fleet to `count` bench servers besides what is there; all of them sleep. */
export async function growFleet(
  stack: Pick<BenchStack, "ensureServer" | "file">,
  from: number,
  count: number,
): Promise<void> {
  await stack.ensureServer(template);
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  try {
    const { spec, metadata } = await kube.get(kind, { name: template, namespace });
    await runSql(
      stack.file().database_url,
      `insert into lifecycle.servers (name, cached_phase, cached_cpu_milli, cached_memory_mb, cached_storage_mb)
         select 'bench-' || lpad(n::text, 5, '0'), 'Stopped', 1000, 2048, 8192
         from generate_series(${from}, ${count - 1}) n on conflict do nothing;
       insert into lifecycle.server_aliases (subdomain, server_name)
         select 'bench-' || lpad(n::text, 5, '0'), 'bench-' || lpad(n::text, 5, '0')
         from generate_series(${from}, ${count - 1}) n on conflict do nothing;
       analyze lifecycle.servers;`,
    );
    await createAll(kube, { from, count, spec, labels: metadata.labels ?? {} });
  } finally {
    kube.close();
  }
}

async function createAll(
  kube: Kube,
  plan: { from: number; count: number; spec: Server["spec"]; labels: Record<string, string> },
): Promise<void> {
  let next = plan.from;
  const worker = async () => {
    for (let index = next++; index < plan.count; index = next++) {
      const name = serverName(index);
      const created = kube.create(kind, {
        apiVersion: `${MinecraftServer.group}/${MinecraftServer.version}`,
        kind: MinecraftServer.kind,
        metadata: { name, namespace, labels: plan.labels },
        spec: { ...plan.spec, subdomain: name },
      });
      // Another goal on the same stack may have made it.
      await created.catch((error: unknown) => {
        if (!isKubeError(error, 409)) throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: createAtOnce }, worker));
}

/** Waits until these processes use less than a tenth of a core for two seconds. */
export async function untilQuiet(pids: readonly number[], timeoutMs = 180_000): Promise<void> {
  await until(
    async () => {
      const cpu = watchCpu(pids);
      await new Promise((wake) => setTimeout(wake, 2_000));
      return cpu() < 200_000;
    },
    timeoutMs,
    "the services to come to rest",
  );
}
