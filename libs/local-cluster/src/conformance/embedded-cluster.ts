import { join } from "node:path";
import { createApiServer } from "../apiserver/server.ts";
import { startDeployments } from "../controllers/deployment/controller.ts";
import { createInformer } from "../controllers/informer.ts";
import { startJobs } from "../controllers/job/controller.ts";
import { startNamespaces } from "../controllers/namespace/controller.ts";
import type { Service } from "../controllers/network/service-index.ts";
import type { Pod } from "../controllers/objects.ts";
import { CLAIMS, PODS, SERVICES, VOLUMES } from "../controllers/refs.ts";
import { startStatefulSets } from "../controllers/stateful-set/controller.ts";
import { startBinder } from "../controllers/volume/binder.ts";
import type { Claim, PersistentVolume } from "../controllers/volume/objects.ts";
import type { Endpoint } from "./client.ts";

/** An embedded cluster under test. */
export type TestCluster = { endpoint: Endpoint; close(): Promise<void> };

/**
 * The embedded API server with its controllers but without scheduler and nodes, as in a bare control plane, so
 * that the suite can act as the nodes.
 */
export async function startCluster(folder: string): Promise<TestCluster> {
  const server = createApiServer({
    dataFile: join(folder, "cluster.sqlite"),
    tokens: [
      { token: "admin-token", user: "admin", groups: ["system:masters"] },
      { token: "nobody-token", user: "nobody", groups: [] },
    ],
    podLogs: { read: async function* () {} },
  });
  await server.listen(0);
  const { api } = server;
  const deps = { api, warn: () => {} };
  const sources = {
    pods: createInformer<Pod>(api, PODS),
    services: createInformer<Service>(api, SERVICES),
    claims: createInformer<Claim>(api, CLAIMS),
    volumes: createInformer<PersistentVolume>(api, VOLUMES),
  };
  const controllers = [
    startNamespaces(deps),
    startBinder(deps, sources, join(folder, "volumes")),
    startStatefulSets(deps, sources),
    startDeployments(deps, sources),
    startJobs(deps, sources, { backoffMs: 100 }),
  ];
  return {
    endpoint: { url: server.url, adminToken: "admin-token", nobodyToken: "nobody-token" },
    close: async () => {
      await Promise.all(controllers.map((controller) => controller.close()));
      for (const source of Object.values(sources)) source.close();
      await server.close();
    },
  };
}
