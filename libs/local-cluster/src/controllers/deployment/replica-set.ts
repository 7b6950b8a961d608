import type { KubeObject } from "../../cluster-api.ts";
import { nameSuffix } from "../../name-suffix.ts";
import type { Controller, ControllerDeps } from "../context.ts";
import { controllerQueue, tolerate } from "../context.ts";
import type { Informer } from "../informer.ts";
import type { Pod, PodTemplate, Selector } from "../objects.ts";
import { controllerOf, isFinished, isReady, isTerminating, keyOf } from "../objects.ts";
import { PODS, REPLICA_SETS } from "../refs.ts";
import { writeStatus } from "../status.ts";
import { podFromTemplate } from "../template.ts";

export type ReplicaSet = KubeObject & {
  spec: { replicas?: number; selector?: Selector; template: PodTemplate };
  status?: { replicas?: number; readyReplicas?: number };
};

type ReplicaPlan = { create: Pod[]; delete: Pod[]; status: Record<string, unknown> };

/** Keeps the number of active pods at `replicas`; unready pods are removed first. */
function decideReplicas(set: ReplicaSet, pods: Pod[]): ReplicaPlan {
  const living = pods.filter((pod) => !isFinished(pod) && !isTerminating(pod));
  const ready = living.filter(isReady);
  const missing = isTerminating(set) ? 0 : (set.spec.replicas ?? 1) - living.length;
  const unready = living.filter((pod) => !isReady(pod));
  return {
    create: Array.from({ length: Math.max(missing, 0) }, () =>
      podFromTemplate({
        owner: set,
        template: set.spec.template,
        name: `${set.metadata.name}-${nameSuffix()}`,
        labels: {},
      }),
    ),
    delete: missing < 0 ? [...unready, ...ready].slice(0, -missing) : [],
    status: {
      observedGeneration: set.metadata.generation ?? 1,
      replicas: living.length,
      fullyLabeledReplicas: living.length,
      readyReplicas: ready.length,
      availableReplicas: ready.length,
    },
  };
}

export function startReplicaSets(
  deps: ControllerDeps,
  { pods, sets }: { pods: Informer<Pod>; sets: Informer<ReplicaSet> },
): Controller {
  const { api } = deps;
  const queue = controllerQueue("ReplicaSet", deps, (key) => {
    const set = sets.get(key);
    if (set === undefined) return undefined;
    const plan = decideReplicas(set, pods.ownedBy(set.metadata.uid ?? ""));
    for (const pod of plan.create) pods.assume(api.create(PODS, pod));
    for (const { metadata } of plan.delete) {
      const target = { name: metadata.name, namespace: metadata.namespace ?? "default" };
      tolerate([404, 409], () => api.delete(PODS, target, { preconditions: { uid: metadata.uid ?? "" } }));
    }
    tolerate([404], () => writeStatus(api, REPLICA_SETS, { object: set, status: plan.status }));
    return undefined;
  });
  sets.onChange((set) => queue.add(keyOf(set)));
  pods.onChange((pod) => {
    const owner = controllerOf(pod);
    if (owner?.kind === "ReplicaSet") queue.add(`${pod.metadata.namespace}/${owner.name}`);
  });
  return { close: () => queue.close() };
}
