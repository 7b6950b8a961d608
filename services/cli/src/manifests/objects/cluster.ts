// Objects that belong to no part: priorities, and what the Prometheus operator scrapes.

import { type Template, when } from "../template/expression.ts";
import { head, type ObjectFile, type V } from "./common.ts";

export function priorityFile(): ObjectFile {
  const priority = (name: string, value: number, description: string): Template => ({
    ...head({ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", name }),
    value,
    globalDefault: false,
    description,
  });
  return {
    file: "priorities.yaml",
    about:
      "Where memory is short, game servers go before the control plane, and that before NATS and PostgreSQL.",
    objects: [
      priority("svc-data", 1_000_100, "NATS and PostgreSQL of svc."),
      priority("svc-control-plane", 1_000_000, "Services of svc, which game servers depend on."),
    ],
  };
}

export function monitoringFile(v: V): ObjectFile {
  const namespace = v.namespaces.control;
  return {
    file: "monitoring.yaml",
    about: "What the Prometheus operator scrapes.",
    objects: [
      when(v.monitoring.podMonitor, {
        ...head({ apiVersion: "monitoring.coreos.com/v1", kind: "PodMonitor", name: "svc", namespace }),
        spec: {
          selector: { matchLabels: { "app.kubernetes.io/part-of": "svc" } },
          podMetricsEndpoints: [{ port: "health", path: "/metrics", interval: "15s" }],
        },
      }),
    ],
  };
}
