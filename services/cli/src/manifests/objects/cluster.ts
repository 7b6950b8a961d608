// Priorities, which belong to no part.

import type { Template } from "../template/expression.ts";
import { head, type ObjectFile } from "./common.ts";

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
