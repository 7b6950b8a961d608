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
  /** It has labels of an earlier release only, which count for nothing (docs/reference/moves.md#relabel). */
  outdated: z.boolean().optional(),
});
export type ExecutionNode = z.output<typeof ExecutionNode>;

export const listNodes = operation({
  subject: "lifecycle.node.list",
  http: { method: "GET", path: "/api/v1/nodes", face: "external", tier: "admin" },
  output: z.strictObject({ nodes: z.array(ExecutionNode) }),
  summary: "Every node of the cluster, by name.",
  spec: "docs/reference/moves.md#nodes",
});

const bytes = z.int().nonnegative();

/** Memory of one node, and what game servers may take of it (docs/reference/moves.md#room). In bytes. */
export const NodeRoom = z.strictObject({
  name: z.string(),
  /** What pods may take at all; other pods than game servers share it. */
  memory: bytes,
  /** Limits of all servers that belong to it, and of those that should run. */
  assigned: bytes,
  awake: bytes,
  /** Servers that belong to it. */
  servers: z.int().nonnegative(),
  /** Whether a new or moved server may be placed there. */
  takes_servers: z.boolean(),
  cordoned: z.boolean(),
});
export type NodeRoom = z.output<typeof NodeRoom>;

export const readRoom = operation({
  subject: "lifecycle.node.read-room",
  http: { method: "GET", path: "/api/v1/nodes/room", face: "external", tier: "admin" },
  output: z.strictObject({
    nodes: z.array(NodeRoom),
    /** Servers that belong to no node: the scheduler of the cluster places them each time they wake. */
    unassigned: z.int().nonnegative(),
  }),
  summary: "The memory of every node, and what its game servers may take of it.",
  spec: "docs/reference/moves.md#room",
});

const one = { name: z.string().min(1).max(253) };

const cordoning = {
  params: one,
  output: ExecutionNode,
  faults: ["not_found"],
  onceById: true,
  spec: "docs/reference/moves.md#cordon",
} as const;

export const cordon = operation({
  ...cordoning,
  subject: "lifecycle.node.cordon",
  http: { method: "POST", path: "/api/v1/nodes/{name}/cordon", face: "external", tier: "admin" },
  summary: "Keeps new and moved servers, and pods that start, off a node; what runs there goes on.",
});

export const uncordon = operation({
  ...cordoning,
  subject: "lifecycle.node.uncordon",
  http: { method: "POST", path: "/api/v1/nodes/{name}/uncordon", face: "external", tier: "admin" },
  summary: "Ends what cordon began.",
});

/** Why a server without a world stays (docs/reference/moves.md#unstarted). */
export const UnstartedReason = z.enum([
  "awake",
  "held",
  "volume_being_made",
  "no_node",
  "no_room",
  "changed",
]);
export type UnstartedReason = z.output<typeof UnstartedReason>;

export const placeUnstarted = operation({
  subject: "lifecycle.node.place-unstarted",
  http: { method: "POST", path: "/api/v1/nodes/{name}/place-unstarted", face: "external", tier: "admin" },
  params: one,
  body: {
    /** The only node that they may go to. */
    to: z.string().min(1).max(253).optional(),
    /** Answers what would be done. */
    dry_run: z.boolean().optional(),
  },
  bodyOptional: true,
  output: z.strictObject({
    placed: z.array(z.strictObject({ name: z.string(), to: z.string() })),
    stay: z.array(z.strictObject({ name: z.string(), reason: UnstartedReason })),
  }),
  faults: ["not_found"],
  idempotent: true,
  deadlineMs: 60_000,
  summary: "Binds the servers of a node that have no world yet to other nodes.",
  spec: "docs/reference/moves.md#unstarted",
});
