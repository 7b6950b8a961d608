import type { KubernetesCondition } from "@svc/proto";

type ConditionType = "Ready" | "RconReached" | "Provisioned" | "PlayersCounted" | "PodStarted";

/** Reasons of conditions; documented constants, also the reasons of phase events (docs/reference/server-states.md#phases). */
export type Reason =
  | "PodNotReady"
  | "SpecChanged"
  | "AutoRestart"
  | "StartRetried"
  | "RestartRequested"
  | "ServiceAddressPending"
  | "RconSecretUnavailable"
  | "ForwardingSecretUnavailable"
  | "RconNotReachable"
  | "RconReached"
  | "RconDisabled"
  | "PodReady"
  | "Probed"
  | "Provisioned"
  | "Counted"
  | "ListUnreadable"
  | "StartupTimeout"
  | "ReadinessTimeout"
  | "InvalidSpec"
  | "MaintenanceInProgress"
  | "NodeUnavailable"
  | "PodPending"
  | "PodUnschedulable"
  | "VolumePending"
  | "ImagePulling"
  | "ImagePullFailed"
  | "ContainerFailed"
  | "ContainerCrashed"
  | "ContainerOutOfMemory"
  | "ContainerRunning"
  | "Stopping"
  | "Stopped";

export type ConditionInput = {
  type: ConditionType;
  status: "True" | "False";
  reason: Reason;
  message: string;
};

export function conditionOf(
  conditions: readonly KubernetesCondition[] | undefined,
  type: ConditionType,
): KubernetesCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** The conditions with `inputs` set; the transition time changes only with the status. */
export function withConditions(
  conditions: readonly KubernetesCondition[] | undefined,
  inputs: readonly ConditionInput[],
  at: string,
): KubernetesCondition[] {
  const result = [...(conditions ?? [])];
  for (const input of inputs) {
    const index = result.findIndex(({ type }) => type === input.type);
    const before = result[index];
    const lastTransitionTime = before?.status === input.status ? before.lastTransitionTime : at;
    const next = { ...input, lastTransitionTime };
    if (index < 0) result.push(next);
    else result[index] = next;
  }
  return result;
}

export function withoutCondition(
  conditions: readonly KubernetesCondition[] | undefined,
  type: ConditionType,
): KubernetesCondition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
