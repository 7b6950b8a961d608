import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import type { Awaitable, NodeApi } from "../cluster-api.ts";
import type { DownwardItem, KeyToPath, Pod, ProjectedSource, Volume } from "../controllers/objects.ts";
import { CLAIMS, CONFIG_MAPS, SECRETS, VOLUMES } from "../controllers/refs.ts";
import type { Claim, PersistentVolume } from "../controllers/volume/objects.ts";
import { directoryOf } from "../controllers/volume/objects.ts";
import type { PodFacts } from "./environment.ts";
import { ContainerConfigError, configMapData, fieldOf, secretData } from "./environment.ts";
import type { PodPaths } from "./paths.ts";

export type VolumeDeps = {
  api: NodeApi;
  /** The token of the pod's ServiceAccount for projected token volumes; undefined when it has none. */
  serviceAccountToken(pod: Pod, account: string): Awaitable<string | undefined>;
};

type Files = Record<string, Buffer>;
type KeyedSource = { name: string; items?: KeyToPath[]; optional?: boolean };

async function keyed(
  deps: VolumeDeps,
  facts: PodFacts,
  { kind, source }: { kind: "secret" | "configmap"; source: KeyedSource },
): Promise<Files> {
  const namespace = facts.pod.metadata.namespace ?? "default";
  const found = await deps.api.find(kind === "secret" ? SECRETS : CONFIG_MAPS, source.name, namespace);
  if (found === undefined) {
    if (source.optional === true) return {};
    throw new ContainerConfigError(`${kind} "${source.name}" not found`);
  }
  const data = kind === "secret" ? secretData(found) : configMapData(found);
  if (source.items === undefined) return data;
  const files: Files = {};
  for (const { key, path } of source.items) {
    const value = data[key];
    if (value !== undefined) files[path] = value;
    else if (source.optional !== true) {
      throw new ContainerConfigError(`couldn't find key ${key} in ${kind} ${namespace}/${source.name}`);
    }
  }
  return files;
}

function downward(facts: PodFacts, items: DownwardItem[] | undefined): Files {
  const entries = (items ?? []).flatMap(({ path, fieldRef }) =>
    fieldRef === undefined ? [] : [[path, Buffer.from(fieldOf(facts, fieldRef.fieldPath))] as const],
  );
  return Object.fromEntries(entries);
}

async function projected(deps: VolumeDeps, facts: PodFacts, source: ProjectedSource): Promise<Files> {
  if (source.secret !== undefined) return keyed(deps, facts, { kind: "secret", source: source.secret });
  if (source.configMap !== undefined)
    return keyed(deps, facts, { kind: "configmap", source: source.configMap });
  if (source.downwardAPI !== undefined) return downward(facts, source.downwardAPI.items);
  if (source.serviceAccountToken === undefined) return {};
  const account = facts.pod.spec.serviceAccountName ?? "default";
  const token = await deps.serviceAccountToken(facts.pod, account);
  if (token === undefined)
    throw new ContainerConfigError(`the cluster was started without a token for ServiceAccount "${account}"`);
  return { [source.serviceAccountToken.path]: Buffer.from(token) };
}

async function claimDirectory({ api }: VolumeDeps, namespace: string, claimName: string): Promise<string> {
  const claim = (await api.find(CLAIMS, claimName, namespace)) as Claim | undefined;
  if (claim === undefined) throw new ContainerConfigError(`persistentvolumeclaim "${claimName}" not found`);
  const name = claim.spec.volumeName;
  const volume =
    name === undefined ? undefined : ((await api.find(VOLUMES, name)) as PersistentVolume | undefined);
  const path = volume === undefined ? undefined : directoryOf(volume);
  if (path === undefined) throw new ContainerConfigError(`persistentvolumeclaim "${claimName}" is not bound`);
  return path;
}

async function contentOf(deps: VolumeDeps, facts: PodFacts, volume: Volume): Promise<Files | undefined> {
  if (volume.secret !== undefined) {
    return keyed(deps, facts, {
      kind: "secret",
      source: { ...volume.secret, name: volume.secret.secretName },
    });
  }
  if (volume.configMap !== undefined)
    return keyed(deps, facts, { kind: "configmap", source: volume.configMap });
  if (volume.downwardAPI !== undefined) return downward(facts, volume.downwardAPI.items);
  if (volume.projected === undefined) return undefined;
  const parts = await Promise.all(
    (volume.projected.sources ?? []).map((source) => projected(deps, facts, source)),
  );
  return Object.assign({}, ...parts);
}

/** Processes of all pods run as one user here, so files with secrets are readable for that user at most. */
function modeOf({ secret, projected, configMap }: Volume): number {
  if (secret !== undefined) return (secret.defaultMode ?? 0o600) & 0o700;
  return projected !== undefined ? 0o600 : (configMap?.defaultMode ?? 0o644);
}

async function fill(dir: string, files: Files, mode: number): Promise<void> {
  for (const [path, bytes] of Object.entries(files)) {
    const file = join(dir, normalize(`/${path}`));
    await mkdir(dirname(file), { recursive: true });
    await rm(file, { force: true });
    await writeFile(file, bytes, { mode });
  }
}

/**
 * Creates the directory of each volume of the pod and returns it by volume name. Secrets and config maps are written
 * as they are now; a later change shows in the next pod. Throws a ContainerConfigError while something is missing.
 */
export async function prepareVolumes(
  deps: VolumeDeps,
  facts: PodFacts,
  paths: PodPaths,
): Promise<Map<string, string>> {
  const dirs = new Map<string, string>();
  for (const volume of facts.pod.spec.volumes ?? []) {
    const claim = volume.persistentVolumeClaim?.claimName;
    const dir =
      claim === undefined
        ? paths.volume(volume.name)
        : await claimDirectory(deps, facts.pod.metadata.namespace ?? "default", claim);
    const files = await contentOf(deps, facts, volume);
    const known = files !== undefined || claim !== undefined || volume.emptyDir !== undefined;
    if (!known)
      throw new ContainerConfigError(`volume "${volume.name}" is of a kind this cluster does not have`);
    await mkdir(dir, { recursive: true });
    if (files !== undefined) {
      await fill(dir, files, modeOf(volume));
    }
    dirs.set(volume.name, dir);
  }
  return dirs;
}
