import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerStatus, Pod } from "@svc/kube";
import { aPod } from "../testing/observed.ts";
import { emptyMemory } from "./observed.ts";
import { podStarted } from "./pod-started.ts";

type State = NonNullable<ContainerStatus["state"]>;
const waits = (reason: string, message?: string): State => ({
  waiting: { reason, ...(message !== undefined && { message }) },
});
const running: State = { running: {} };
const ended = (exitCode: number, reason?: string): State => ({
  terminated: { exitCode, ...(reason !== undefined && { reason }) },
});
const container = (state: State, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: "minecraft",
  restartCount: 0,
  state,
  ...more,
});

function podWith(status: Partial<NonNullable<Pod["status"]>>): Pod {
  const pod = aPod({ isReady: false });
  return { ...pod, status: { ...pod.status, ...status } };
}

const scheduled = (status: string, reason?: string, message?: string) => ({
  conditions: [
    { type: "PodScheduled", status, ...(reason && { reason }), ...(message && { message }) },
    { type: "Ready", status: "False" },
  ],
});
const crashLoop = waits("CrashLoopBackOff", "back-off 10s");

const rows: Record<string, [pod: Pod | undefined, expected: string, message?: RegExp]> = {
  "no pod yet is pending": [undefined, "False/PodPending"],
  "a pod that is ending is pending: the next one is not there": [
    aPod({ isReady: true, isLeaving: true }),
    "False/PodPending",
  ],
  "a pod without a node is pending": [podWith({}), "False/PodPending"],
  "a pod that fits nowhere says why": [
    podWith(scheduled("False", "Unschedulable", "0/2 nodes are available: 2 Insufficient memory.")),
    "False/PodUnschedulable",
    /Insufficient memory/,
  ],
  "a pod whose sandbox is not there yet waits for its volume": [
    podWith({
      conditions: [{ type: "PodReadyToStartContainers", status: "False" }],
      containerStatuses: [container(waits("ContainerCreating"))],
    }),
    "False/VolumePending",
  ],
  "a pod that cannot be set up says why": [
    podWith({ containerStatuses: [container(waits("ContainerCreating", "claim world-x-0 is missing"))] }),
    "False/VolumePending",
    /claim world-x-0/,
  ],
  "a pod whose init containers run prepares its volume": [
    podWith({
      initContainerStatuses: [container(ended(0)), container(running)],
      containerStatuses: [container(waits("PodInitializing"))],
    }),
    "False/VolumePending",
  ],
  "after its init containers the image is pulled": [
    podWith({
      initContainerStatuses: [container(ended(0))],
      containerStatuses: [container(waits("PodInitializing"))],
    }),
    "False/ImagePulling",
  ],
  "a container that is created pulls its image": [
    podWith({ containerStatuses: [container(waits("ContainerCreating"))] }),
    "False/ImagePulling",
  ],
  "an image that is not there says so": [
    podWith({ containerStatuses: [container(waits("ErrImagePull", "manifest unknown"))] }),
    "False/ImagePullFailed",
    /manifest unknown/,
  ],
  "so does one that is tried again later": [
    podWith({ containerStatuses: [container(waits("ImagePullBackOff"))] }),
    "False/ImagePullFailed",
  ],
  "an image of an init container counts as well": [
    podWith({
      initContainerStatuses: [container(waits("ImagePullBackOff"))],
      containerStatuses: [container(waits("PodInitializing"))],
    }),
    "False/ImagePullFailed",
  ],
  "an init step that fails says why": [
    podWith({
      initContainerStatuses: [
        container(ended(0)),
        container(crashLoop, {
          name: "egress-gate",
          lastState: {
            terminated: {
              exitCode: 1,
              message:
                '{"step":"egress-gate","error":"the egress policy is not enforced: dns:53 does not answer"}\n',
            },
          },
        }),
      ],
      containerStatuses: [container(waits("PodInitializing"))],
    }),
    "False/ContainerFailed",
    /^The step egress-gate failed: the egress policy is not enforced: dns:53 does not answer$/,
  ],
  "an init step that was killed says with which code": [
    podWith({
      initContainerStatuses: [container(crashLoop, { lastState: ended(137) })],
      containerStatuses: [container(waits("PodInitializing"))],
    }),
    "False/ContainerCrashed",
    /exit code 137/,
  ],
  "a container that cannot be created says why": [
    podWith({ containerStatuses: [container(waits("CreateContainerConfigError", "secret not found"))] }),
    "False/ContainerFailed",
    /secret not found/,
  ],
  "a process that ended says with which code": [
    podWith({ containerStatuses: [container(ended(3))] }),
    "False/ContainerCrashed",
    /exit code 3/,
  ],
  "one that keeps ending says so between its lives": [
    podWith({ containerStatuses: [container(crashLoop, { lastState: ended(1), restartCount: 4 })] }),
    "False/ContainerCrashed",
    /exit code 1.*4 times/,
  ],
  "one that needed too much memory says so": [
    podWith({ containerStatuses: [container(crashLoop, { lastState: ended(137, "OOMKilled") })] }),
    "False/ContainerOutOfMemory",
  ],
  "a process that runs has started": [
    podWith({ containerStatuses: [container(running)] }),
    "True/ContainerRunning",
  ],
  "a pod that is ready has started": [aPod({ isReady: true }), "True/ContainerRunning"],
};

for (const [fact, [pod, expected, message]] of Object.entries(rows))
  test(fact, () => {
    const found = podStarted({ pod, memory: emptyMemory });
    assert.equal(`${found.status}/${found.reason}`, expected);
    if (message) assert.match(found.message, message);
  });

test("a long message is cut", () => {
  const pod = podWith({ containerStatuses: [container(waits("ErrImagePull", "x".repeat(9_000)))] });
  assert.equal(podStarted({ pod, memory: emptyMemory }).message.length, 512);
});
