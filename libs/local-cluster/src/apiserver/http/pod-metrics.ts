import type { KubeObject, PodUsage, PodUsages } from "../../cluster-api.ts";
import { ApiStatus, methodNotAllowed, noSuchPath } from "../api-status.ts";
import { metricsGroup } from "../discovery.ts";
import { listPage } from "../registry/listing.ts";
import type { Registry } from "../registry/registry.ts";
import type { RequestContext } from "./request-context.ts";
import type { RequestInfo } from "./request-info.ts";
import { sendJson } from "./respond.ts";

type Deps = { registry: Registry; podUsages: PodUsages };

const apiVersion = `${metricsGroup.group}/${metricsGroup.version}`;

/** `GET` of the usage of one pod or of the pods of a namespace, in the format of metrics-server. */
export async function servePodMetrics(
  { registry, podUsages }: Deps,
  { request, response, query }: RequestContext,
  info: RequestInfo & { kind: "resource" },
): Promise<void> {
  const pods = registry.types.find("", "v1", "pods");
  const { resource, version, name, namespace, subresource } = info;
  if (!pods || version !== metricsGroup.version || resource !== "pods" || subresource !== undefined)
    throw noSuchPath();
  if (request.method !== "GET" || info.verb === "watch") throw methodNotAllowed();
  const labelSelector = query.get("labelSelector");
  const selection = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector ? { labelSelector } : {}),
  };
  const { items } = listPage(registry.store, pods, selection);
  const usages = await podUsages.measure();
  const measured = items.flatMap(({ object }) => {
    const usage = usages.get(object.metadata.uid ?? "");
    return usage ? [podMetricsOf(object, usage)] : [];
  });
  if (name === undefined) {
    sendJson(response, 200, { kind: "PodMetricsList", apiVersion, metadata: {}, items: measured });
    return;
  }
  const one = measured.find(({ metadata }) => metadata.name === name);
  const message = `podmetrics.${metricsGroup.group} "${namespace}/${name}" not found`;
  if (!one) throw new ApiStatus(404, "NotFound", { message });
  sendJson(response, 200, { kind: "PodMetrics", apiVersion, ...one });
}

function podMetricsOf({ metadata }: KubeObject, { at, windowMs, containers }: PodUsage) {
  const { name, namespace, labels, creationTimestamp } = metadata;
  return {
    metadata: { name, namespace, labels, creationTimestamp },
    timestamp: at.toISOString(),
    window: `${(windowMs / 1_000).toFixed(3)}s`,
    containers: containers.map(({ container, cpuNanocores, memoryBytes }) => ({
      name: container,
      usage: { cpu: `${Math.round(cpuNanocores)}n`, memory: `${Math.round(memoryBytes / 1_024)}Ki` },
    })),
  };
}
