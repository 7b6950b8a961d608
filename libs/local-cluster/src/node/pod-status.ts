import type { Condition, ContainerStatus, Pod, PodPhase, PodStatus } from "../controllers/objects.ts";
import { timeText } from "../time.ts";

export type PodView = {
  pod: Pod;
  init: ContainerStatus[];
  main: ContainerStatus[];
  podIP: string;
  hostIP: string;
  startTime: string;
  /** Set when the pod itself has a reason to end, or ends because it is being deleted. */
  ending: { phase?: PodPhase; reason?: string; message?: string } | undefined;
};

const exitCode = (one: ContainerStatus) => one.state.terminated?.exitCode;
const hasRun = (one: ContainerStatus) =>
  one.state.running !== undefined ||
  one.state.terminated !== undefined ||
  one.lastState.terminated !== undefined;

/** True when the container will not be started again under the pod's restart policy. */
export function isFinal(status: ContainerStatus, policy: string): boolean {
  const code = exitCode(status);
  return code !== undefined && (policy === "Never" || (policy === "OnFailure" && code === 0));
}

/**
 * Pending until every init container succeeded and every container ran once; Succeeded or Failed when none will run
 * again; Running in between. A pod that always restarts never ends by itself.
 */
function phaseOf({ pod, init, main }: PodView): PodPhase {
  const policy = pod.spec.restartPolicy ?? "Always";
  if (init.some((one) => policy === "Never" && (exitCode(one) ?? 0) !== 0)) return "Failed";
  if (init.some((one) => exitCode(one) !== 0)) return "Pending";
  if (main.every((one) => isFinal(one, policy))) {
    return main.every((one) => exitCode(one) === 0) ? "Succeeded" : "Failed";
  }
  return main.every(hasRun) ? "Running" : "Pending";
}

function names(list: ContainerStatus[]): string {
  return `[${list.map(({ name }) => name).join(" ")}]`;
}

function conditionsOf({ pod, init, main }: PodView, phase: PodPhase, nowMs: number): Condition[] {
  const incomplete = init.filter((one) => exitCode(one) !== 0);
  const unready = main.filter((one) => !one.ready);
  const over = phase === "Succeeded" || phase === "Failed";
  const readiness = (): Omit<Condition, "type"> => {
    if (phase === "Succeeded") return { status: "False", reason: "PodCompleted" };
    if (phase === "Failed") return { status: "False", reason: "PodFailed" };
    if (unready.length === 0) return { status: "True" };
    return {
      status: "False",
      reason: "ContainersNotReady",
      message: `containers with unready status: ${names(unready)}`,
    };
  };
  const initialized: Omit<Condition, "type"> =
    incomplete.length === 0 || over
      ? { status: incomplete.length === 0 ? "True" : "False" }
      : {
          status: "False",
          reason: "ContainersNotInitialized",
          message: `containers with incomplete status: ${names(incomplete)}`,
        };
  const next: Condition[] = [
    { type: "Initialized", ...initialized },
    { type: "Ready", ...readiness() },
    { type: "ContainersReady", ...readiness() },
    { type: "PodScheduled", status: "True" },
  ];
  const known = pod.status?.conditions ?? [];
  const dated = next.map((one) => {
    const before = known.find((old) => old.type === one.type && old.status === one.status);
    return { ...one, lastTransitionTime: before?.lastTransitionTime ?? timeText(nowMs) };
  });
  return [...dated, ...known.filter((old) => next.every((one) => one.type !== old.type))];
}

/** The whole status of a pod from the state of its containers. */
export function statusOf(view: PodView, nowMs: number): PodStatus {
  const phase = view.ending?.phase ?? phaseOf(view);
  const { reason, message } = view.ending ?? {};
  return {
    phase,
    conditions: conditionsOf(view, phase, nowMs),
    hostIP: view.hostIP,
    podIP: view.podIP,
    podIPs: [{ ip: view.podIP }],
    startTime: view.startTime,
    qosClass: "BestEffort",
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(view.init.length === 0 ? {} : { initContainerStatuses: view.init }),
    containerStatuses: view.main,
  };
}
