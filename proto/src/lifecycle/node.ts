// Execution nodes as operators see them (api.md A21, behaviour.md o).
// Vocabulary: role = controller or worker; approved = an operator let it take servers, and it is schedulable.

import { z } from "zod";
import { operation } from "../contract.ts";

/** One machine of the cluster (interface.md 2.26). `name` is what `nodeName` and `targetNode` take. */
export const ExecutionNode = z.strictObject({
  name: z.string(),
  /** Empty when nobody gave it one. */
  role: z.string(),
  /** Whether its kubelet answers. */
  ready: z.boolean(),
  approved: z.boolean(),
  addresses: z.array(z.string()),
  /** As the container world names it: `amd64`, `arm64`. */
  architecture: z.string(),
});
export type ExecutionNode = z.output<typeof ExecutionNode>;

export const listNodes = operation({
  subject: "lifecycle.node.list",
  http: { method: "GET", path: "/api/v1/nodes", face: "external", tier: "admin" },
  output: z.strictObject({ nodes: z.array(ExecutionNode) }),
  summary: "Every node of the cluster, by name.",
  spec: "api.md A21, behaviour.md o",
});
