import type { Controller, ControllerDeps } from "../context.ts";
import { controllerQueue, tolerate } from "../context.ts";
import type { Informer } from "../informer.ts";
import { createInformer } from "../informer.ts";
import type { Pod } from "../objects.ts";
import { controllerOf, keyOf } from "../objects.ts";
import { DEPLOYMENTS, REPLICA_SETS } from "../refs.ts";
import { writeStatus } from "../status.ts";
import type { Deployment } from "./decide.ts";
import { decide } from "./decide.ts";
import type { ReplicaSet } from "./replica-set.ts";
import { startReplicaSets } from "./replica-set.ts";

export function startDeployments(deps: ControllerDeps, { pods }: { pods: Informer<Pod> }): Controller {
  const { api } = deps;
  const sets = createInformer<ReplicaSet>(api, REPLICA_SETS);
  const deployments = createInformer<Deployment>(api, DEPLOYMENTS);
  const replicaSets = startReplicaSets(deps, { pods, sets });
  const queue = controllerQueue("Deployment", deps, (key) => {
    const deployment = deployments.get(key);
    if (deployment === undefined) return undefined;
    const namespace = deployment.metadata.namespace ?? "default";
    const plan = decide(deployment, sets.ownedBy(deployment.metadata.uid ?? ""), Date.now());
    for (const set of plan.create) sets.assume(api.create(REPLICA_SETS, set));
    for (const { set, replicas } of plan.scale) {
      api.mergePatch(REPLICA_SETS, { name: set.metadata.name, namespace }, { spec: { replicas } });
    }
    for (const set of plan.delete) {
      tolerate([404], () => api.delete(REPLICA_SETS, { name: set.metadata.name, namespace }));
    }
    writeStatus(api, DEPLOYMENTS, { object: deployment, status: plan.status });
    return undefined;
  });
  deployments.onChange((deployment) => queue.add(keyOf(deployment)));
  sets.onChange((set) => {
    const owner = controllerOf(set);
    if (owner?.kind === "Deployment") queue.add(`${set.metadata.namespace}/${owner.name}`);
  });
  return {
    close: async () => {
      sets.close();
      deployments.close();
      await Promise.all([queue.close(), replicaSets.close()]);
    },
  };
}
