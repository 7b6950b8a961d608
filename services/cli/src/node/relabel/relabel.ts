// `svc node relabel` (docs/reference/moves.md#relabel).

import { isKubeError, type Kube, type KubeObject, resource, resources } from "@svc/kube";
import { nodeLabels } from "@svc/proto/node-labels";
import { CommandError, type Outcome } from "../../output.ts";
import { inCluster } from "../cluster.ts";
import { oldKeyIn, planRelabel, type RelabelPlan, type Volume } from "./plan.ts";

export type RelabelOptions = { kubeconfig?: string; yes?: boolean };

const volumes = resource<KubeObject & Volume>({
  group: "",
  version: "v1",
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});

/** Exit code 1 when a node is left out. Each node gets its labels in one write; the old ones stay. */
export async function relabel({ kubeconfig, yes = false }: RelabelOptions): Promise<Outcome> {
  return inCluster({ kubeconfig, task: "label nodes" }, async (kube) => {
    const [{ items: nodes }, { items: all }] = await Promise.all([
      kube.list(resources.nodes),
      kube.list(volumes),
    ]);
    const plan = planRelabel(nodes);
    if (yes) for (const one of plan.copy) await write(kube, one);
    const bound = all.flatMap((volume) => {
      const label = oldKeyIn(volume);
      return label === undefined ? [] : [{ volume: volume.metadata.name, label }];
    });
    return {
      json: { ...plan, volumes: bound, done: yes },
      text: textOf(plan, { volumes: bound, yes }),
      exitCode: plan.refused.length === 0 ? 0 : 1,
    };
  });
}

async function write(kube: Kube, { node, uid, labels }: RelabelPlan["copy"][number]): Promise<void> {
  await kube
    .patch(resources.nodes, { name: node }, { merge: { metadata: { uid, labels } } })
    .catch((error: unknown) => {
      // Another uid is a conflict or, to some API servers, an invalid change of an immutable field.
      const isOther = isKubeError(error, 422) && (error as Error).message.includes("metadata.uid");
      if (isOther || isKubeError(error, 409) || isKubeError(error, 404))
        throw new CommandError(`node ${node} was replaced meanwhile; run the command again`);
      throw error;
    });
}

type About = { volumes: { volume: string; label: string }[]; yes: boolean };

function textOf({ copy, refused }: RelabelPlan, { volumes: bound, yes }: About): string {
  const lines = copy.map(({ node, labels }) => `  ${node}: ${shortOf(labels)}`);
  const out = refused.map(({ node, why }) => `  ${node} is left out: ${why}`);
  const kept = bound.map(({ volume, label }) => `  volume ${volume} selects its node by ${label}`);
  const head = yes
    ? `${copy.length} nodes were labelled; their old labels stay.`
    : "Plan: copy the labels of an earlier release to those that no kubelet may change; the old ones stay.";
  const both = copy.length + refused.length === 0 ? ["Every node has the labels of this release."] : [head];
  return [
    ...both,
    ...lines,
    ...out,
    ...(kept.length > 0
      ? [...kept, `Keep the old labels for them, and see docs/reference/moves.md#relabel`]
      : []),
    ...(yes || copy.length === 0 ? [] : ["Nothing was done; add --yes to do it."]),
  ].join("\n");
}

function shortOf(labels: Readonly<Record<string, string>>): string {
  const names = Object.entries(nodeLabels).flatMap(([kind, key]) =>
    labels[key] === undefined ? [] : [`${kind}=${labels[key]}`],
  );
  return names.join(" ");
}
