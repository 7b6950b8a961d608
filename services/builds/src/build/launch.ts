// Creates the Job of a build and its Secret; every step can be repeated after a crash.

import { createHash, randomBytes } from "node:crypto";
import { isKubeError, resources } from "@svc/kube";
import { buildJobs } from "@svc/proto";
import { repositoryOf, toPolicy } from "../acceptance/rules.ts";
import { findAcceptancesOf } from "../acceptance/store.ts";
import type { Settings } from "../config.ts";
import { findOrigin } from "../pack/store.ts";
import { type ClusterDeps, inNamespace } from "./deps.ts";
import { buildJob, jobNameOf, secretOfJob } from "./job.ts";
import { submissionOf } from "./policy.ts";
import type { BuildRow } from "./row.ts";
import { addDocumentsToken, markLaunched } from "./store.ts";
import { taskOf } from "./task.ts";
import { hasUserNamespaces } from "./user-namespaces.ts";

export const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");

/**
 * The Secret is created after the Job, which owns it from the start; a pod waits for it. The token's digest is stored
 * before the Secret: whichever attempt created the Secret, the row knows its token.
 */
export async function launch(deps: ClusterDeps, row: BuildRow): Promise<void> {
  const { kube, db } = deps;
  const isolated = await hasUserNamespaces(deps);
  // Tried again with the next round.
  if (isolated === undefined) return;
  const settings = withUserNamespaces(deps.settings, isolated);
  const { callerToken, pushCredential } = deps.secrets();
  const accepted = toPolicy(await findAcceptancesOf(db, repositoryOf(row.image_ref)));
  const task = { ...taskOf(settings, row, accepted), ...(await rightsOf(deps, row)) };
  const documents = randomBytes(32).toString("hex");
  if (!(await addDocumentsToken(db, row.id, hashOf(documents)))) return;
  const wanted = buildJob(settings, {
    id: row.id,
    kind: row.kind,
    task,
    hasRegistryCredential: pushCredential !== undefined,
  });
  const target = { name: jobNameOf(row.id), ...inNamespace(deps) };
  const job =
    (await ignoreConflict(kube.create(resources.jobs, wanted))) ?? (await kube.get(resources.jobs, target));
  const credentials = row.kind === "build" ? { caller: callerToken, registry: pushCredential } : {};
  const secret = secretOfJob(job, { documents, ...credentials });
  await ignoreConflict(kube.create(resources.secrets, secret));
  // It ended meanwhile: whoever ended it may have found nothing to remove.
  if (!(await markLaunched(db, row.id))) await removeJob(deps, row.id);
}

/**
 * What a build gets because of its context: the layers of its author's earlier builds, and, of a pack, what `context-fetch`
 * may download.
 */
async function rightsOf(
  { db, settings: { builds } }: Pick<ClusterDeps, "db" | "settings">,
  { context_ref, kind }: BuildRow,
): Promise<Pick<buildJobs.BuildTask, "downloads" | "layer_cache">> {
  const submission = kind === "build" ? submissionOf(context_ref, builds.internal_url) : undefined;
  const origin = submission === undefined ? undefined : await findOrigin(db, submission);
  if (!origin) return {};
  const { pack_hosts: hosts, pack_downloads: files, pack_download_bytes: bytes } = builds;
  return {
    ...(origin.isPack && { downloads: { hosts, files, bytes } }),
    ...(builds.cache_bytes > 0 && { layer_cache: layerCacheOf(origin.author) }),
  };
}

/** Repository of the layers of one author's builds; it does not show whose. */
export function layerCacheOf(author: string): string {
  return `${buildJobs.layerCachePrefix}${hashOf(`layers of ${author}`).slice(0, 32)}`;
}

function withUserNamespaces(settings: Settings, isolated: boolean): Settings {
  const build_user_namespaces = isolated ? "on" : "off";
  return { ...settings, registry: { ...settings.registry, build_user_namespaces } };
}

async function ignoreConflict<T>(made: Promise<T>): Promise<T | undefined> {
  return made.catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
    return undefined;
  });
}

/** Ends the Job with its pod and its Secret. */
export async function removeJob(deps: ClusterDeps, id: string): Promise<void> {
  const target = { name: jobNameOf(id), ...inNamespace(deps) };
  await ignoreMissing(deps.kube.remove(resources.jobs, target, { propagationPolicy: "Background" }));
}

export async function removeSecret(deps: ClusterDeps, id: string): Promise<void> {
  await ignoreMissing(deps.kube.remove(resources.secrets, { name: jobNameOf(id), ...inNamespace(deps) }));
}

async function ignoreMissing(removal: Promise<void>): Promise<void> {
  await removal.catch((error: unknown) => {
    if (!isKubeError(error, 404)) throw error;
  });
}
