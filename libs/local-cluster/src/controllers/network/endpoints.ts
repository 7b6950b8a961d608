import { isDeepStrictEqual } from "node:util";
import { hasLabels } from "../../label-selector.ts";
import type { Controller, ControllerDeps } from "../context.ts";
import { controllerQueue } from "../context.ts";
import type { Informer } from "../informer.ts";
import type { Pod } from "../objects.ts";
import { isFinished, isReady, isTerminating, keyOf, ownerReference } from "../objects.ts";
import { ENDPOINTS } from "../refs.ts";
import type { Service, ServicePort } from "./service-index.ts";
import { indexServices } from "./service-index.ts";

type Address = { ip: string; nodeName?: string; hostname?: string; targetRef: Record<string, string> };
type Port = { name?: string; port: number; protocol: string };
export type Subset = { addresses?: Address[]; notReadyAddresses?: Address[]; ports?: Port[] };

/** The number of a target port; a name is resolved among the ports of the pod's containers. */
function targetPortOf(port: ServicePort, pod: Pod): number | undefined {
  const target = port.targetPort ?? port.port;
  if (typeof target === "number") return target;
  const ports = pod.spec.containers.flatMap((container) => container.ports ?? []);
  return ports.find((one) => one.name === target)?.containerPort;
}

function addressOf(pod: Pod): Address {
  const { name, namespace = "", uid = "" } = pod.metadata;
  return {
    ip: pod.status?.podIP ?? "",
    ...(pod.spec.hostname === undefined ? {} : { hostname: pod.spec.hostname }),
    ...(pod.spec.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    targetRef: { kind: "Pod", name, namespace, uid },
  };
}

/** Pods with the same target ports share a subset; sorted, so that an unchanged set of pods gives an equal value. */
export function subsetsOf(service: Service, pods: Pod[]): Subset[] {
  const groups = new Map<string, Subset & { ports: Port[] }>();
  const serving = pods.filter(
    (pod) => !isFinished(pod) && !isTerminating(pod) && (pod.status?.podIP ?? "") !== "",
  );
  for (const pod of serving.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const ports = (service.spec.ports ?? []).flatMap((one): Port[] => {
      const port = targetPortOf(one, pod);
      if (port === undefined) return [];
      return [
        { ...(one.name === undefined ? {} : { name: one.name }), port, protocol: one.protocol ?? "TCP" },
      ];
    });
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports };
    const list = isReady(pod) || service.spec.publishNotReadyAddresses ? "addresses" : "notReadyAddresses";
    group[list] = [...(group[list] ?? []), addressOf(pod)];
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** A service that never had a pod gets no object: ten thousand stopped servers must cost nothing. */
function ensureEndpoints({ api }: ControllerDeps, service: Service, subsets: Subset[]): void {
  const { name, namespace = "default" } = service.metadata;
  const known = api.find(ENDPOINTS, name, namespace);
  if (known !== undefined) {
    if (isDeepStrictEqual(known["subsets"] ?? [], subsets)) return;
    api.mergePatch(ENDPOINTS, { name, namespace }, { subsets });
  } else if (subsets.length > 0) {
    const metadata = { name, namespace, ownerReferences: [ownerReference(service)] };
    api.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets });
  }
}

export function startEndpoints(
  deps: ControllerDeps,
  { pods, services }: { pods: Informer<Pod>; services: Informer<Service> },
): Controller {
  const servicesOf = indexServices(services);
  const queue = controllerQueue("Endpoints", deps, (key) => {
    const service = services.get(key);
    if (service?.spec.selector === undefined || isTerminating(service)) return undefined;
    const chosen = [...pods.inNamespace(service.metadata.namespace ?? "default")].filter((pod) =>
      hasLabels(pod.metadata.labels, service.spec.selector),
    );
    ensureEndpoints(deps, service, subsetsOf(service, chosen));
    return undefined;
  });
  services.onChange((service, _previous, deleted) => {
    if (!deleted && Object.keys(service.spec.selector ?? {}).length > 0) queue.add(keyOf(service));
  });
  pods.onChange((pod, previous) => {
    const touched = [...servicesOf(pod), ...(previous === undefined ? [] : servicesOf(previous))];
    for (const service of touched) queue.add(keyOf(service));
  });
  return { close: () => queue.close() };
}
