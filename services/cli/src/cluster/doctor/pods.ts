// Why a pod does not do its work, in one sentence. Pure.

import type { ContainerStatus, Pod } from "@svc/kube";

export function restartsOf({ status }: Pod): number {
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** Undefined for a pod that is ready, has ended well or is being deleted. */
export function explainPod({ metadata, status = {} }: Pod): string | undefined {
  const { phase, conditions = [], initContainerStatuses = [], containerStatuses = [] } = status;
  if (metadata.deletionTimestamp !== undefined || phase === "Succeeded") return undefined;
  const of = (type: string) => conditions.find((one) => one.type === type);
  const scheduled = of("PodScheduled");
  if (scheduled?.status === "False")
    return `${metadata.name} has no node: ${scheduled.message ?? "no reason yet"}`;
  const reasons = [...initContainerStatuses, ...containerStatuses].flatMap(
    (one) => explainContainer(one) ?? [],
  );
  if (reasons[0] !== undefined) return `${metadata.name}: ${reasons[0]}`;
  if (phase === "Failed")
    return `${metadata.name} failed: ${status.message ?? status.reason ?? "see its log"}`;
  if (phase === "Pending") return `${metadata.name} waits for a node`;
  if (of("Ready")?.status === "False") return `${metadata.name} runs and is not ready; see its log`;
  return undefined;
}

const advice: Record<string, string> = {
  ErrImagePull: "is the image in a registry that nodes reach, and are images.pullSecrets set?",
  ImagePullBackOff: "is the image in a registry that nodes reach, and are images.pullSecrets set?",
  InvalidImageName: "check the names under images in the values",
  CreateContainerConfigError: "a Secret or ConfigMap lacks what it needs",
};

function explainContainer({ name, state = {}, lastState = {} }: ContainerStatus): string | undefined {
  const { waiting, terminated } = state;
  const ended = lastState.terminated ?? terminated;
  if (ended?.reason === "OOMKilled")
    return `${name} needed more memory than its limit; raise resources.memoryLimit`;
  if (waiting?.reason === "CrashLoopBackOff")
    return `${name} ends again and again, the last time with exit code ${ended?.exitCode ?? "unknown"}; see its log with --previous`;
  const help = advice[waiting?.reason ?? ""];
  if (waiting && help !== undefined) return `${name}: ${waiting.reason}, ${waiting.message ?? ""}; ${help}`;
  if (terminated && terminated.exitCode !== 0)
    return `${name} ended with exit code ${terminated.exitCode}; see its log`;
  return undefined;
}
