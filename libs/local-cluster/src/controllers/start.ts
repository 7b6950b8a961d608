import type { Controller, ControllerDeps } from "./context.ts";
import { startDeployments } from "./deployment/controller.ts";
import type { Informer } from "./informer.ts";
import { createInformer } from "./informer.ts";
import { startJobs } from "./job/controller.ts";
import { startNamespaces } from "./namespace/controller.ts";
import { startEndpoints } from "./network/endpoints.ts";
import type { Service } from "./network/service-index.ts";
import type { Pod } from "./objects.ts";
import { NODES } from "./refs.ts";
import type { Node } from "./schedule/decide.ts";
import { startScheduler } from "./schedule/scheduler.ts";
import { startStatefulSets } from "./stateful-set/controller.ts";
import { startBinder } from "./volume/binder.ts";
import type { Claim, PersistentVolume } from "./volume/objects.ts";

export type ControllerSources = {
  pods: Informer<Pod>;
  services: Informer<Service>;
  claims: Informer<Claim>;
  volumes: Informer<PersistentVolume>;
};

type ControllerOptions = { volumesDir: string; jobBackoffMs: number };

/** Starts every controller of the cluster; they share the informers of pods, services, claims and volumes. */
export function startControllers(
  deps: ControllerDeps,
  sources: ControllerSources,
  { volumesDir, jobBackoffMs }: ControllerOptions,
): Controller {
  const nodes = createInformer<Node>(deps.api, NODES);
  const controllers = [
    startNamespaces(deps),
    startBinder(deps, sources, volumesDir),
    startScheduler(deps, { ...sources, nodes }),
    startStatefulSets(deps, sources),
    startDeployments(deps, sources),
    startJobs(deps, sources, { backoffMs: jobBackoffMs }),
    startEndpoints(deps, sources),
  ];
  return {
    close: async () => {
      nodes.close();
      await Promise.all(controllers.map((one) => one.close()));
    },
  };
}
