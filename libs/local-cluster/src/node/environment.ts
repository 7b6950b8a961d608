import type { KubeObject, NodeApi } from "../cluster-api.ts";
import type { Container, EnvSource, Pod } from "../controllers/objects.ts";
import { CONFIG_MAPS, SECRETS } from "../controllers/refs.ts";
import { expand } from "./expand.ts";

/** A container cannot be created yet; the message is shown in its status with `CreateContainerConfigError`. */
export class ContainerConfigError extends Error {
  override name = "ContainerConfigError";
}

export type PodFacts = { pod: Pod; podIP: string; hostIP: string };

/** The value of a downward API field path such as `status.podIP` or `metadata.labels['app']`. */
export function fieldOf({ pod, podIP, hostIP }: PodFacts, path: string): string {
  const { metadata, spec } = pod;
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (keyed !== null) return metadata[keyed[1] as "labels" | "annotations"]?.[keyed[2] ?? ""] ?? "";
  const known: Record<string, string> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace ?? "",
    "metadata.uid": metadata.uid ?? "",
    "spec.nodeName": spec.nodeName ?? "",
    "spec.serviceAccountName": spec.serviceAccountName ?? "default",
    "status.podIP": podIP,
    "status.podIPs": podIP,
    "status.hostIP": hostIP,
    "metadata.labels": lines(metadata.labels),
    "metadata.annotations": lines(metadata.annotations),
  };
  const value = known[path];
  if (value === undefined) throw new ContainerConfigError(`field path "${path}" is not supported`);
  return value;
}

function lines(values: Record<string, string> | undefined): string {
  return Object.entries(values ?? {})
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join("\n");
}

function record(value: unknown): Record<string, string> {
  return typeof value === "object" && value !== null ? (value as Record<string, string>) : {};
}

/** The decoded entries of a Secret. */
export function secretData(secret: KubeObject): Record<string, Buffer> {
  const entries = Object.entries(record(secret["data"]));
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64")]));
}

/** The entries of a ConfigMap, binary ones decoded. */
export function configMapData(map: KubeObject): Record<string, Buffer> {
  const binary = Object.entries(record(map["binaryData"])).map(([key, value]) => [
    key,
    Buffer.from(value, "base64"),
  ]);
  const text = Object.entries(record(map["data"])).map(([key, value]) => [key, Buffer.from(value)]);
  return Object.fromEntries([...text, ...binary]);
}

type KeyRef = { name: string; key: string; optional?: boolean };
type Kind = "secret" | "configmap";

async function entriesOf(api: NodeApi, kind: Kind, target: { name: string; namespace: string }) {
  const found = await api.find(kind === "secret" ? SECRETS : CONFIG_MAPS, target.name, target.namespace);
  if (found === undefined) return undefined;
  return kind === "secret" ? secretData(found) : configMapData(found);
}

async function keyValue(
  api: NodeApi,
  kind: Kind,
  ref: KeyRef & { namespace: string },
): Promise<string | undefined> {
  const entries = await entriesOf(api, kind, ref);
  const value = entries?.[ref.key];
  if (value !== undefined) return value.toString("utf8");
  if (ref.optional === true) return undefined;
  throw new ContainerConfigError(
    entries === undefined
      ? `${kind} "${ref.name}" not found`
      : `couldn't find key ${ref.key} in ${kind} ${ref.namespace}/${ref.name}`,
  );
}

async function sourced(api: NodeApi, facts: PodFacts, source: EnvSource): Promise<string | undefined> {
  const namespace = facts.pod.metadata.namespace ?? "default";
  if (source.fieldRef !== undefined) return fieldOf(facts, source.fieldRef.fieldPath);
  if (source.secretKeyRef !== undefined)
    return keyValue(api, "secret", { ...source.secretKeyRef, namespace });
  if (source.configMapKeyRef !== undefined)
    return keyValue(api, "configmap", { ...source.configMapKeyRef, namespace });
  throw new ContainerConfigError("a valueFrom of the environment names no supported source");
}

async function bulk(api: NodeApi, facts: PodFacts, container: Container): Promise<Record<string, string>> {
  const namespace = facts.pod.metadata.namespace ?? "default";
  const all: Record<string, string> = {};
  for (const { prefix = "", secretRef, configMapRef } of container.envFrom ?? []) {
    const ref = secretRef ?? configMapRef;
    if (ref === undefined) continue;
    const kind = secretRef === undefined ? "configmap" : "secret";
    const entries = await entriesOf(api, kind, { name: ref.name, namespace });
    if (entries === undefined && ref.optional !== true) {
      throw new ContainerConfigError(`${kind} "${ref.name}" not found`);
    }
    for (const [key, value] of Object.entries(entries ?? {})) all[prefix + key] = value.toString("utf8");
  }
  return all;
}

/** The environment of the container, `env` over `envFrom`, with `$(NAME)` of earlier entries expanded. */
export async function resolveEnvironment(
  api: NodeApi,
  facts: PodFacts,
  container: Container,
): Promise<Record<string, string>> {
  const env = await bulk(api, facts, container);
  for (const { name, value, valueFrom } of container.env ?? []) {
    const resolved =
      valueFrom === undefined ? expand(value ?? "", env) : await sourced(api, facts, valueFrom);
    if (resolved !== undefined) env[name] = resolved;
  }
  return env;
}
