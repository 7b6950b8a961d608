// `registry.build_user_namespaces = "auto"`: one Job tries out whether root of a pod is an unprivileged user of its node. The
// finished Job is the answer, for all replicas, until the cluster removes it; then it is asked again.

import { isKubeError, type Job, resources } from "@svc/kube";
import type { Settings } from "../config.ts";
import { type ClusterDeps, inNamespace } from "./deps.ts";
import { stateOf } from "./observe.ts";

const name = "probe-user-namespaces";
const deadlineSeconds = 60;

/** Undefined while it is not known yet. */
export async function hasUserNamespaces(
  deps: Pick<ClusterDeps, "kube" | "settings">,
): Promise<boolean | undefined> {
  const { kube, settings } = deps;
  const wanted = settings.registry.build_user_namespaces;
  if (wanted !== "auto") return wanted === "on";
  const job = await kube.find(resources.jobs, { name, ...inNamespace(deps) });
  const state = stateOf(job);
  if (state === "complete") return true;
  if (state === "failed" || state === "late") return false;
  if (state === "missing") await createProbe(deps);
  return undefined;
}

async function createProbe(deps: Pick<ClusterDeps, "kube" | "settings">): Promise<void> {
  await deps.kube.create(resources.jobs, probeJob(deps.settings)).catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
  });
}

/** An API server that does not know user namespaces drops `hostUsers`, so the program looks for itself. */
export function probeJob({ registry, builds }: Settings): Job {
  const labels = { "svc.internal/component": "build-probe", "svc.internal/managed-by": "svc-builds" };
  const limits = { cpu: builds.step_cpu, memory: builds.step_memory };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: registry.build_namespace, labels },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: deadlineSeconds,
      ttlSecondsAfterFinished: Math.ceil(builds.job_ttl / 1_000),
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: "Never",
          serviceAccountName: builds.job_account,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          hostUsers: false,
          ...(registry.build_runtime_class !== "" && { runtimeClassName: registry.build_runtime_class }),
          securityContext: { seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              name: "probe",
              image: builds.agent_image,
              ...(builds.agent_command.length > 0 && { command: builds.agent_command }),
              args: ["probe-user-namespaces"],
              resources: { requests: limits, limits },
              terminationMessagePolicy: "FallbackToLogsOnError",
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                runAsNonRoot: true,
                runAsUser: 65_532,
                runAsGroup: 65_532,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    },
  };
}
