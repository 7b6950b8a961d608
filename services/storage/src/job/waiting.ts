// A Job whose pod gets no node (docs/reference/world-lock.md#jobs). Once a Job exceeds its deadline its pod is deleted and with
// it the reason, so that is noted at the Job while the pod waits.

import { isKubeError, type Job, type Pod, resources } from "@svc/kube";
import { isJobFinished } from "@svc/world-lock";
import { type ClusterDeps, inNamespace, type StorageDeps } from "../deps.ts";
import { annotation } from "./names.ts";

const maxMessage = 300;

/** Why the pods of a Job have no node; undefined when one has, and before the scheduler has tried. Pure. */
export function waitReasonOf(pods: readonly Pod[]): string | undefined {
  for (const { metadata, spec, status } of pods) {
    if (metadata.deletionTimestamp !== undefined || spec?.nodeName) continue;
    const about = status?.conditions?.find(({ type }) => type === "PodScheduled");
    if (about?.status === "False") return (about.message ?? "no node takes it").slice(0, maxMessage);
  }
  return undefined;
}

/** Notes the reason at a Job that has waited for longer than `start_patience`, and takes it away when it no longer does. */
export async function noteWaiting(
  deps: ClusterDeps & Pick<StorageDeps, "log" | "now">,
  job: Job,
): Promise<void> {
  const { name, annotations = {}, creationTimestamp = "" } = job.metadata;
  const isNew = deps.now() - Date.parse(creationTimestamp) <= deps.settings.storage.start_patience;
  const known = annotations[annotation.waitsBecause];
  const { ready = 0 } = (job.status ?? {}) as { ready?: number };
  if (isJobFinished(job) || isNew || (ready > 0 && known === undefined)) return;
  const { items } = await deps.kube.list(resources.pods, {
    ...inNamespace(deps),
    labelSelector: `job-name=${name}`,
  });
  const reason = waitReasonOf(items);
  // Without a pod nothing is known: the Job may just have exceeded its deadline.
  if (reason === known || items.length === 0) return;
  const merge = { metadata: { annotations: { [annotation.waitsBecause]: reason ?? null } } };
  await deps.kube.patch(resources.jobs, { name, ...inNamespace(deps) }, { merge }).catch((error: unknown) => {
    if (!isKubeError(error, 404)) throw error;
  });
  if (reason !== undefined) deps.log.warn({ job: name, reason }, "world job waits for a node");
}
