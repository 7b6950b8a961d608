import type { NodeApi } from "../../cluster-api.ts";
import { timeText } from "../../time.ts";
import type { Controller } from "../context.ts";
import { controllerQueue, tolerated } from "../context.ts";
import type { Source } from "../informer.ts";
import type { Condition, Pod } from "../objects.ts";
import { isFinished, isTerminating, keyOf } from "../objects.ts";
import { CLAIMS, PODS } from "../refs.ts";
import type { Claim, PersistentVolume } from "../volume/objects.ts";
import { claimNamesOf, SELECTED_NODE } from "../volume/objects.ts";
import type { Node } from "./decide.ts";
import { place } from "./decide.ts";

type SchedulerSources = {
  pods: Source<Pod>;
  claims: Source<Claim>;
  volumes: Source<PersistentVolume>;
  nodes: Source<Node>;
};
type SchedulerDeps = { api: NodeApi; warn(text: string): void };

async function refuse({ api }: SchedulerDeps, pod: Pod, message: string): Promise<void> {
  const known = pod.status?.conditions?.find((one) => one.type === "PodScheduled");
  if (known?.status === "False" && known.message === message) return;
  const { name, namespace = "default" } = pod.metadata;
  const condition: Condition = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message,
    lastTransitionTime: known?.lastTransitionTime ?? timeText(),
  };
  const others = (pod.status?.conditions ?? []).filter((one) => one.type !== "PodScheduled");
  const status = { phase: "Pending", conditions: [...others, condition] };
  await tolerated([404], () => api.mergePatch(PODS, { name, namespace, subresource: "status" }, { status }));
}

function claimsOf({ claims, volumes }: SchedulerSources, pod: Pod) {
  return claimNamesOf(pod).map((name) => {
    const claim = claims.get(`${pod.metadata.namespace}/${name}`);
    const volume = claim?.spec.volumeName === undefined ? undefined : volumes.get(claim.spec.volumeName);
    return { name, claim, volume };
  });
}

function loadOf(pods: Source<Pod>): Map<string, number> {
  const load = new Map<string, number>();
  for (const pod of pods.values()) {
    const node = pod.spec.nodeName;
    if (node !== undefined && !isFinished(pod)) load.set(node, (load.get(node) ?? 0) + 1);
  }
  return load;
}

/**
 * Binds each pod to a node. For a pod with an unbound claim it first writes the node to the claim and waits for the
 * volume.
 */
export function startScheduler(deps: SchedulerDeps, sources: SchedulerSources): Controller {
  const { api } = deps;
  const { pods, claims, nodes } = sources;
  const waiting = new Set<string>();
  const queue = controllerQueue("Scheduling of pod", deps, async (key) => {
    const pod = pods.get(key);
    waiting.delete(key);
    if (pod === undefined || pod.spec.nodeName !== undefined || isTerminating(pod) || isFinished(pod))
      return undefined;
    waiting.add(key);
    const found = claimsOf(sources, pod);
    const placement = place({ pod, nodes: [...nodes.values()], load: loadOf(pods), claims: found });
    if ("refused" in placement) {
      await refuse(deps, pod, placement.refused);
      return undefined;
    }
    const namespace = pod.metadata.namespace ?? "default";
    const unbound = found.filter(({ claim }) => claim?.status?.phase !== "Bound");
    for (const { name, claim } of unbound) {
      if (
        claim?.metadata.annotations?.[SELECTED_NODE] === placement.node ||
        claim?.spec.volumeName !== undefined
      )
        continue;
      const annotations = { [SELECTED_NODE]: placement.node };
      await tolerated([404], () =>
        api.mergePatch(CLAIMS, { name, namespace }, { metadata: { annotations } }),
      );
    }
    if (unbound.length > 0) return undefined;
    await tolerated([404], () => api.bindPod({ name: pod.metadata.name, namespace }, placement.node));
    return undefined;
  });
  const retryAll = () => {
    for (const key of waiting) queue.add(key);
  };
  pods.onChange((pod) => {
    if (pod.spec.nodeName === undefined) queue.add(keyOf(pod));
  });
  nodes.onChange(retryAll);
  claims.onChange(retryAll);
  sources.volumes.onChange(retryAll);
  return {
    close: () => queue.close(),
  };
}
