// How far the pod of a start is (docs/reference/server-states.md#conditions). Pure.

import type { ContainerStatus, Pod } from "@svc/kube";
import type { ConditionInput, Reason } from "../cluster/condition.ts";
import { isPodTerminating, type Observed } from "./observed.ts";

/** Messages come from registries and runtimes; a status is not a log. */
const longestMessage = 512;

const imageReasons: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);
/** Containers wait with these while nothing is wrong. */
const ordinaryReasons: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);

const pending = no("PodPending", "The pod is being created.");
const isUp: ConditionInput = { ...no("ContainerRunning", "The server's process runs."), status: "True" };

/** The condition `PodStarted`: True once the server's process runs. */
export function podStarted({ pod, memory }: Pick<Observed, "pod" | "memory">): ConditionInput {
  if (!pod || isPodTerminating(pod, memory)) return pending;
  if (conditionOf(pod, "Ready")?.status === "True") return isUp;
  const scheduled = conditionOf(pod, "PodScheduled");
  if (scheduled?.reason === "Unschedulable" && scheduled.status !== "True")
    return no("PodUnschedulable", scheduled.message ?? "No node can run the pod.");
  const { initContainerStatuses: init = [], containerStatuses: main = [] } = pod.status ?? {};
  const [game] = main;
  if (!game) return pending;
  const preparing = init.find(({ state }) => state?.terminated?.exitCode !== 0);
  const failed = preparing ? stepFault(preparing) : undefined;
  return failed ?? fault(preparing ?? game) ?? progress(pod, preparing, game);
}

/** An init step that ended with an error says why in its last line of JSON. */
function stepFault({ name, state, lastState }: ContainerStatus): ConditionInput | undefined {
  const ended = state?.terminated ?? (state?.running ? undefined : lastState?.terminated);
  const line = ended?.message?.trim().split("\n").at(-1);
  if (!ended || ended.exitCode === 0 || !line) return undefined;
  return no("ContainerFailed", `The step ${name} failed: ${errorIn(line)}`);
}

function errorIn(line: string): string {
  try {
    const { error } = JSON.parse(line) as { error?: unknown };
    return typeof error === "string" ? error : line;
  } catch {
    // Ended before it could say why.
    return line;
  }
}

function fault({ state, lastState, restartCount }: ContainerStatus): ConditionInput | undefined {
  const { waiting, running, terminated } = state ?? {};
  const reason = waiting?.reason ?? "";
  const ended = terminated ?? (reason === "CrashLoopBackOff" ? lastState?.terminated : undefined);
  if (ended && !running) {
    const times = restartCount > 0 ? ` It was restarted ${restartCount} times.` : "";
    return ended.reason === "OOMKilled"
      ? no("ContainerOutOfMemory", `The server's process needed more memory than it may have.${times}`)
      : no("ContainerCrashed", `The server's process ended with exit code ${ended.exitCode}.${times}`);
  }
  if (imageReasons.has(reason))
    return no("ImagePullFailed", waiting?.message ?? "The image cannot be pulled.");
  if (reason === "" || ordinaryReasons.has(reason)) return undefined;
  return no("ContainerFailed", waiting?.message ?? `The container cannot be created: ${reason}.`);
}

function progress(pod: Pod, preparing: ContainerStatus | undefined, game: ContainerStatus): ConditionInput {
  if (!preparing && game.state?.running) return isUp;
  const problem = (preparing ?? game).state?.waiting?.message;
  const isSandboxed = conditionOf(pod, "PodReadyToStartContainers")?.status !== "False";
  if (preparing || problem !== undefined || !isSandboxed)
    return no("VolumePending", problem ?? "The world's volume is being prepared.");
  return no("ImagePulling", "The image is being pulled.");
}

function conditionOf(pod: Pod, type: string) {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

function no(reason: Reason, message: string): ConditionInput {
  return { type: "PodStarted", status: "False", reason, message: message.slice(0, longestMessage) };
}
