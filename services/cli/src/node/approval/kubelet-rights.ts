// Asks the API server in the name of a node's kubelet for what it must refuse; nothing is stored.

import { isKubeError, type Kube, pathOf, resources } from "@svc/kube";
import { nodeLabels } from "@svc/proto/node-labels";
import type { Facts, KubeletRight } from "./judge.ts";

/** Needs the right to impersonate; both are `unknown` without it, or where the API server does not know impersonation. */
export async function askAsKubelet(kube: Kube, name: string): Promise<Facts["kubelet"]> {
  if (!(await canImpersonate(kube, name))) return { taints: "unknown", labels: "unknown" };
  const labels = {
    [nodeLabels.identity]: "probe",
    [nodeLabels.role]: "probe",
    [nodeLabels.approved]: "probe",
  };
  return {
    taints: await tryPatch(kube, name, {
      spec: { taints: [{ key: "svc.internal/probe", effect: "NoSchedule" }] },
    }),
    labels: await tryPatch(kube, name, { metadata: { labels } }),
  };
}

// Somebody without rights is refused; an API server that ignores the header would answer us.
async function canImpersonate(kube: Kube, name: string): Promise<boolean> {
  try {
    await kube.transport.request({
      method: "GET",
      path: pathOf(resources.nodes, { name }),
      impersonate: { user: "svc:nobody" },
    });
    return false;
  } catch (error) {
    if (!isKubeError(error, 403)) throw error;
    return !(error as Error).message.includes("impersonate");
  }
}

async function tryPatch(kube: Kube, name: string, body: object): Promise<KubeletRight> {
  try {
    await kube.transport.request({
      method: "PATCH",
      path: pathOf(resources.nodes, { name }),
      query: { dryRun: "All" },
      contentType: "application/merge-patch+json",
      impersonate: { user: `system:node:${name}`, group: "system:nodes" },
      body,
    });
    return "allowed";
  } catch (error) {
    if (!isKubeError(error, 403)) throw error;
    return (error as Error).message.includes("impersonate") ? "unknown" : "refused";
  }
}
