import type { KubeObject } from "../../cluster-api.ts";
import type { Controller, ControllerDeps } from "../context.ts";
import { controllerQueue, tolerate } from "../context.ts";
import type { Informer } from "../informer.ts";
import { createInformer } from "../informer.ts";
import type { Pod } from "../objects.ts";
import { controllerOf, isTerminating, keyOf } from "../objects.ts";
import { CLAIMS, PODS, STATEFUL_SETS } from "../refs.ts";
import { writeStatus } from "../status.ts";
import type { Plan, StatefulSet } from "./decide.ts";
import { decide } from "./decide.ts";

type Sources = { pods: Informer<Pod>; claims: Informer<KubeObject> };

function act({ api }: ControllerDeps, set: StatefulSet, plan: Plan): void {
  for (const claim of plan.claims) tolerate([409], () => api.create(CLAIMS, claim));
  for (const pod of plan.create) api.create(PODS, pod);
  for (const pod of plan.delete) {
    const { name, namespace = "default", uid = "" } = pod.metadata;
    tolerate([404, 409], () => api.delete(PODS, { name, namespace }, { preconditions: { uid } }));
  }
  tolerate([404], () => writeStatus(api, STATEFUL_SETS, { object: set, status: plan.status }));
}

export function startStatefulSets(deps: ControllerDeps, { pods, claims }: Sources): Controller {
  const sets = createInformer<StatefulSet>(deps.api, STATEFUL_SETS);
  const queue = controllerQueue("StatefulSet", deps, (key) => {
    const set = sets.get(key);
    if (set === undefined) return undefined;
    const namespace = set.metadata.namespace ?? "default";
    const dying = [...claims.inNamespace(namespace)].filter(isTerminating);
    const observed = {
      set,
      pods: pods.ownedBy(set.metadata.uid ?? ""),
      dyingClaims: new Set(dying.map((claim) => claim.metadata.name)),
    };
    act(deps, set, decide(observed));
    return undefined;
  });
  sets.onChange((set) => queue.add(keyOf(set)));
  pods.onChange((pod) => {
    const owner = controllerOf(pod);
    if (owner?.kind === "StatefulSet") queue.add(`${pod.metadata.namespace}/${owner.name}`);
  });
  claims.onChange((claim, _previous, deleted) => {
    if (!deleted) return;
    for (const set of sets.inNamespace(claim.metadata.namespace ?? "default")) queue.add(keyOf(set));
  });
  return {
    close: async () => {
      sets.close();
      await queue.close();
    },
  };
}
