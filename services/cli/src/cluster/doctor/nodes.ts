// What the doctor says of nodes, and of what selects them (docs/reference/cli.md#doctor-of-a-cluster). Pure.

import type { Node, Pod } from "@svc/kube";
import { hasOutdatedLabels, nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import type { Finding } from "../../findings.ts";
import type { KubernetesObject } from "../../manifests/installation.ts";
import type { Expected } from "./expected.ts";
import type { Found, Observed } from "./observe.ts";
import { explainPod } from "./pods.ts";

const fine = (check: string, detail: string): Finding => ({ check, ok: true, detail });
const bad = (check: string, detail: string): Finding => ({ check, ok: false, detail });

export const conditionOf = (conditions: Found["conditions"], type: string) =>
  (conditions as { type: string; status: string; message?: string }[] | undefined)?.find(
    (one) => one.type === type,
  );

export function nodeFindings({ nodeLabel }: Expected, { nodes, pods }: Observed): Finding[] {
  const isReady = (node: Node) => conditionOf(node.status?.conditions, "Ready")?.status === "True";
  const away = nodes.filter((node) => !isReady(node)).map(({ metadata }) => metadata.name);
  const count = `${nodes.length - away.length} of ${nodes.length} ready`;
  return [
    away.length === 0 && nodes.length > 0
      ? fine("nodes", count)
      : bad("nodes", `${count}${away.length > 0 ? `; not ready: ${away.join(", ")}` : ""}`),
    ...labelFindings(nodes),
    ...(nodeLabel === undefined ? [] : archiveFinding(nodes, nodeLabel)),
    ...podFindings(pods),
    ...worldPodFindings(pods),
  ];
}

function labelFindings(nodes: readonly Node[]): Finding[] {
  const outdated = nodes.filter(({ metadata }) => hasOutdatedLabels(metadata.labels));
  if (outdated.length === 0) return [];
  const names = outdated.map(({ metadata }) => metadata.name).join(", ");
  return [
    bad(
      "labels of nodes",
      `those of ${names} are of an earlier release and count for nothing; run svc node relabel`,
    ),
  ];
}

/** svc itself trusts the protected label only; volumes of an earlier release need theirs, too. */
function archiveFinding(nodes: readonly Node[], nodeLabel: string): Finding[] {
  const keys = [...new Set([nodeLabels.role, nodeLabel])];
  const lacks = keys.filter((key) => !nodes.some(({ metadata }) => metadata.labels?.[key] === "controller"));
  const command = `kubectl label node NODE ${lacks.map((key) => `${key}=controller`).join(" ")}`;
  return lacks.length === 0 ? [] : [bad("node of the archives", `no node has the label; run ${command}`)];
}

const oldKeys: ReadonlySet<string> = new Set(Object.values(oldNodeLabels));

/** Whether a pod was made by an earlier release for a node with an old label, and has not ended. */
function selectsByOldLabel({ spec, status }: Pod): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return false;
  return Object.keys(spec?.nodeSelector ?? {}).some((key) => oldKeys.has(key));
}

function podFindings(pods: readonly Pod[]): Finding[] {
  const old = pods.filter(selectsByOldLabel).map(({ metadata }) => metadata.name);
  const detail = `${old.join(", ")} select their node by a label that any kubelet may change; stop and start these servers once`;
  return old.length === 0 ? [] : [bad("pods of an earlier release", detail)];
}

/** Pods of storage that no node takes: their Jobs fail at their deadline only, and keep their worlds locked until then. */
function worldPodFindings(pods: readonly Pod[]): Finding[] {
  const isOfWorld = ({ metadata }: Pod) =>
    ["world-job", "drill"].includes(metadata.labels?.["svc.internal/component"] ?? "");
  const hasNode = ({ status }: Pod) => conditionOf(status?.conditions, "PodScheduled")?.status !== "False";
  const waiting = pods.filter((pod) => isOfWorld(pod) && !hasNode(pod));
  return waiting.length === 0
    ? []
    : [bad("pods of worlds", waiting.flatMap((pod) => explainPod(pod) ?? []).join("; "))];
}

/** A volume with another node affinity than the values say: applying them fails. */
export function volumeFinding(object: KubernetesObject, found: Found): Finding[] {
  const [wanted, is] = [keysOf(object["spec"]), keysOf(found.spec)];
  if (wanted === is) return [];
  const detail = `selects its node by ${is || "nothing"}, the values say ${wanted || "nothing"}; that can't be changed: set volumes.nodeLabel, or see docs/reference/moves.md#relabel`;
  return [bad(`volume ${object.metadata.name}`, detail)];
}

type Terms = { matchExpressions?: { key: string }[] }[];
type VolumeSpec = { nodeAffinity?: { required?: { nodeSelectorTerms?: Terms } } };

function keysOf(spec: unknown): string {
  const terms = (spec as VolumeSpec | undefined)?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key)).join(", ");
}
