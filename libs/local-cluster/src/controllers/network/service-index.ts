import type { KubeObject } from "../../cluster-api.ts";
import { hasLabels } from "../../label-selector.ts";
import type { Informer } from "../informer.ts";
import type { Pod } from "../objects.ts";
import { keyOf } from "../objects.ts";

export type ServicePort = { name?: string; port: number; targetPort?: number | string; protocol?: string };
export type Service = KubeObject & {
  spec: {
    clusterIP?: string;
    selector?: Record<string, string>;
    ports?: ServicePort[];
    publishNotReadyAddresses?: boolean;
  };
};

const slot = (service: Service): string | undefined => {
  const first = Object.entries(service.spec.selector ?? {})[0];
  return first === undefined ? undefined : `${service.metadata.namespace}/${first[0]}=${first[1]}`;
};

/** Finds the services that select a pod without scanning all services: one pair of each selector is the index. */
export function indexServices(services: Informer<Service>): (pod: Pod) => Service[] {
  const slots = new Map<string, Set<string>>();
  services.onChange((service, previous, deleted) => {
    const key = keyOf(service);
    const before = previous === undefined ? undefined : slot(previous);
    const now = deleted ? undefined : slot(service);
    if (before === now && now !== undefined) return;
    if (before !== undefined) slots.get(before)?.delete(key);
    if (before !== undefined && slots.get(before)?.size === 0) slots.delete(before);
    if (now === undefined) return;
    slots.set(now, (slots.get(now) ?? new Set()).add(key));
  });
  return (pod) =>
    Object.entries(pod.metadata.labels ?? {})
      .flatMap(([label, value]) => [...(slots.get(`${pod.metadata.namespace}/${label}=${value}`) ?? [])])
      .map((key) => services.get(key))
      .filter((one) => one !== undefined)
      .filter((service) => hasLabels(pod.metadata.labels, service.spec.selector));
}
