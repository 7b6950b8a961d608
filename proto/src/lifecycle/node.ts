// Execution nodes as operators see them (docs/reference/moves.md#nodes).
// Vocabulary: role = controller or worker; approved = an operator let it take servers, and it is schedulable.

import { z } from "zod";
import { operation } from "../contract.ts";

/** One machine of the cluster (docs/reference/moves.md#nodes). `name` is what `nodeName` and `targetNode` take. */
export const ExecutionNode = z.strictObject({
  name: z.string(),
  /** Empty when it has none. */
  role: z.string(),
  /** Whether its kubelet answers. */
  ready: z.boolean(),
  approved: z.boolean(),
  addresses: z.array(z.string()),
  /** Architecture as containers name it: `amd64`, `arm64`. */
  architecture: z.string(),
});
export type ExecutionNode = z.output<typeof ExecutionNode>;

export const listNodes = operation({
  subject: "lifecycle.node.list",
  http: { method: "GET", path: "/api/v1/nodes", face: "external", tier: "admin" },
  output: z.strictObject({ nodes: z.array(ExecutionNode) }),
  summary: "Every node of the cluster, by name.",
  spec: "docs/reference/moves.md#nodes",
});
