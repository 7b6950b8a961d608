import type { KubeObject } from "../../cluster-api.ts";
import { timeText } from "../../time.ts";
import type { Condition, PodTemplate, Selector } from "../objects.ts";
import { isTerminating, ownerReference } from "../objects.ts";
import { templateHash } from "../template.ts";
import type { ReplicaSet } from "./replica-set.ts";

type Amount = number | string;

export type Deployment = KubeObject & {
  spec: {
    replicas?: number;
    selector?: Selector;
    template: PodTemplate;
    revisionHistoryLimit?: number;
    strategy?: { type?: string; rollingUpdate?: { maxSurge?: Amount; maxUnavailable?: Amount } };
  };
  status?: { conditions?: Condition[] };
};

type Plan = {
  create: ReplicaSet[];
  scale: { set: ReplicaSet; replicas: number }[];
  delete: ReplicaSet[];
  status: Record<string, unknown>;
};

const HASH = "pod-template-hash";

function amount(value: Amount | undefined, replicas: number, round: (n: number) => number): number {
  if (typeof value === "number") return value;
  return round((replicas * Number.parseInt(value ?? "25%", 10)) / 100);
}

function newSet(deployment: Deployment, hash: string, replicas: number): ReplicaSet {
  const { name, namespace = "default" } = deployment.metadata;
  const template = structuredClone(deployment.spec.template) as PodTemplate;
  const labels = { ...template.metadata?.labels, [HASH]: hash };
  template.metadata = { ...template.metadata, labels };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: `${name}-${hash}`, namespace, labels, ownerReferences: [ownerReference(deployment)] },
    spec: {
      replicas,
      selector: {
        ...deployment.spec.selector,
        matchLabels: { ...deployment.spec.selector?.matchLabels, [HASH]: hash },
      },
      template,
    },
  };
}

const ready = (set: ReplicaSet | undefined) => set?.status?.readyReplicas ?? 0;
const sum = (sets: ReplicaSet[], of: (set: ReplicaSet) => number) =>
  sets.reduce((all, set) => all + of(set), 0);
const wanted = (set: ReplicaSet) => set.spec.replicas ?? 1;
const present = (set: ReplicaSet) => set.status?.replicas ?? 0;

function conditionsOf(
  deployment: Deployment,
  { available, updated }: { available: boolean; updated: boolean },
  at: string,
) {
  const next: Condition[] = [
    available
      ? { type: "Available", status: "True", reason: "MinimumReplicasAvailable" }
      : { type: "Available", status: "False", reason: "MinimumReplicasUnavailable" },
    updated
      ? { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" }
      : { type: "Progressing", status: "True", reason: "ReplicaSetUpdated" },
  ];
  return next.map((one) => {
    const known = deployment.status?.conditions?.find((old) => old.type === one.type);
    const kept = known?.status === one.status ? known.lastTransitionTime : undefined;
    return { ...one, lastTransitionTime: kept ?? at };
  });
}

type Rollout = { current: ReplicaSet | undefined; old: ReplicaSet[]; replicas: number };

/** The size of each ReplicaSet now, within maxSurge above and maxUnavailable below the desired number. */
function sizes(deployment: Deployment, { current, old, replicas }: Rollout) {
  const oldScale = new Map<ReplicaSet, number>();
  if (deployment.spec.strategy?.type === "Recreate") {
    for (const set of old) oldScale.set(set, 0);
    return {
      fresh: old.some((set) => present(set) > 0) ? (current === undefined ? 0 : wanted(current)) : replicas,
      oldScale,
    };
  }
  const limits = deployment.spec.strategy?.rollingUpdate;
  const surge = amount(limits?.maxSurge, replicas, Math.ceil);
  const slack = amount(limits?.maxUnavailable, replicas, Math.floor);
  const unavailable = surge === 0 && slack === 0 ? 1 : slack;
  const oldTotal = sum(old, wanted);
  const fresh = Math.max(
    Math.min(replicas, replicas + surge - oldTotal),
    Math.min(current ? wanted(current) : 0, replicas),
  );
  let spare = sum(old, ready) + ready(current) - (replicas - unavailable);
  for (const set of old) {
    const broken = Math.max(wanted(set) - ready(set), 0);
    const drop = Math.min(wanted(set), broken + Math.max(Math.min(spare, ready(set)), 0));
    spare -= Math.max(drop - broken, 0);
    oldScale.set(set, wanted(set) - drop);
  }
  return { fresh, oldScale };
}

/** One step of a rollout over the ReplicaSets that the Deployment controls. */
export function decide(deployment: Deployment, sets: ReplicaSet[], nowMs: number): Plan {
  const replicas = deployment.spec.replicas ?? 1;
  const hash = templateHash(deployment.spec.template);
  const current = sets.find((set) => set.metadata.labels?.[HASH] === hash);
  const old = sets.filter((set) => set !== current);
  const available = sum(sets, ready);
  const status = {
    observedGeneration: deployment.metadata.generation ?? 1,
    replicas: sum(sets, present),
    updatedReplicas: current === undefined ? 0 : present(current),
    readyReplicas: available,
    availableReplicas: available,
    unavailableReplicas: Math.max(replicas - available, 0),
    conditions: conditionsOf(
      deployment,
      {
        available:
          available >=
          replicas - amount(deployment.spec.strategy?.rollingUpdate?.maxUnavailable, replicas, Math.floor),
        updated: ready(current) >= replicas && sum(old, present) === 0,
      },
      timeText(nowMs),
    ),
  };
  if (isTerminating(deployment)) return { create: [], scale: [], delete: [], status };
  const { fresh, oldScale } = sizes(deployment, { current, old, replicas });
  const scale = [...oldScale].map(([set, size]) => ({ set, replicas: size }));
  if (current !== undefined) scale.push({ set: current, replicas: fresh });
  const idle = old.filter((set) => wanted(set) === 0 && present(set) === 0);
  const byAge = idle.sort((a, b) =>
    (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""),
  );
  return {
    create: current === undefined ? [newSet(deployment, hash, fresh)] : [],
    scale: scale.filter(({ set, replicas: size }) => wanted(set) !== size),
    delete: byAge.slice(0, Math.max(idle.length - (deployment.spec.revisionHistoryLimit ?? 10), 0)),
    status,
  };
}
