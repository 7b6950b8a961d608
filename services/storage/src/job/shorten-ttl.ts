import { isKubeError, resources } from "@svc/kube";
import { type ClusterDeps, inNamespace } from "../deps.ts";

/** The end is recorded: the Job is kept only for as long as people may inspect it. */
export async function shortenTtl(
  deps: ClusterDeps,
  job: string,
  ttlMs = deps.settings.storage.job_ttl,
): Promise<void> {
  const ttlSecondsAfterFinished = Math.ceil(ttlMs / 1_000);
  try {
    const merge = { spec: { ttlSecondsAfterFinished } };
    await deps.kube.patch(resources.jobs, { name: job, ...inNamespace(deps) }, { merge });
  } catch (error) {
    if (!isKubeError(error, 404)) throw error;
  }
}
