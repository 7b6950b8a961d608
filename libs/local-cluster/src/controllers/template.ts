import { createHash } from "node:crypto";
import type { KubeObject } from "../cluster-api.ts";
import type { Pod, PodTemplate } from "./objects.ts";
import { ownerReference } from "./objects.ts";

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]),
  );
}

/** Ten hex digits that do not depend on the field order of the template. */
export function templateHash(template: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(template)))
    .digest("hex")
    .slice(0, 10);
}

type PodFromTemplate = {
  owner: KubeObject;
  template: PodTemplate;
  name: string;
  labels: Record<string, string>;
};

export function podFromTemplate({ owner, template, name, labels }: PodFromTemplate): Pod {
  const annotations = template.metadata?.annotations;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: owner.metadata.namespace ?? "default",
      labels: { ...template.metadata?.labels, ...labels },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownerReference(owner)],
    },
    spec: structuredClone(template.spec) as Pod["spec"],
  };
}
