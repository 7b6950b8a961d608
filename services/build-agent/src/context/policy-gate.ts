// The step `egress-gate`: holds the build back until the network policy cuts off the Kubernetes API.

import { waitForFence } from "@svc/kube/egress-gate";
import type { Settings } from "../config.ts";
import { StepFailure } from "../failure.ts";
import type { StepContext } from "../step.ts";

export async function waitForPolicy(
  { task, env }: Settings,
  { say, limits }: StepContext,
): Promise<undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) throw new Error("KUBERNETES_SERVICE_HOST is not set; this step runs in a pod");
  const face = new URL(task.context_url);
  const facePort = face.port || (face.protocol === "https:" ? "443" : "80");
  const problem = await waitForFence({
    waitMs: limits.fenceMs,
    positiveProbe: `${face.hostname}:${facePort}`,
    probe: `${host.includes(":") ? `[${host}]` : host}:${port}`,
  });
  if (problem !== undefined) throw new StepFailure(`the egress policy is not enforced: ${problem}`);
  say("the Kubernetes API can't be reached");
  return undefined;
}
