import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "@svc/kube";
import type { nodes } from "@svc/proto";
import { nodeLabels } from "@svc/proto/node-labels";
import type { Server } from "../cluster/resource.ts";
import { roomOf } from "./room.ts";

const gib = 2 ** 30;

type About = { approved?: boolean; ready?: boolean; cordoned?: boolean; memory?: string };

function node(name: string, about: About = {}): Node {
  const { approved = true, ready = true, cordoned = false, memory = "16Gi" } = about;
  const labels = {
    [nodeLabels.identity]: name,
    [nodeLabels.role]: "worker",
    ...(approved && { [nodeLabels.approved]: "true" }),
  };
  const conditions = [{ type: "Ready", status: ready ? "True" : "Unknown" }] as never;
  return {
    ...{ apiVersion: "v1", kind: "Node", metadata: { name: `machine-${name}`, labels } },
    spec: { unschedulable: cordoned },
    status: { conditions, ...(memory !== "" && { allocatable: { memory } }) },
  };
}

function server(nodeName: string, memory: string, desiredState: "Running" | "Stopped" = "Stopped"): Server {
  const resources = memory === "" ? {} : { limits: { memory } };
  const spec = { ...(nodeName !== "" && { nodeName }), desiredState, resources };
  return { metadata: { name: "s" }, spec } as unknown as Server;
}

const room = (name: string, about: Partial<nodes.NodeRoom> = {}): nodes.NodeRoom => ({
  ...{ name, memory: 16 * gib, assigned: 0, awake: 0, servers: 0, takes_servers: true, cordoned: false },
  ...about,
});

const table: [fact: string, Node[], Server[], ReturnType<typeof roomOf>][] = [
  ["a cluster without nodes has no room", [], [server("", "1Gi")], { nodes: [], unassigned: 1 }],
  ["nodes are sorted by name", [node("b"), node("a")], [], { nodes: [room("a"), room("b")], unassigned: 0 }],
  [
    "servers count with their limits, and those that should run once more",
    [node("a")],
    [server("a", "2Gi", "Running"), server("a", "1Gi")],
    { nodes: [room("a", { assigned: 3 * gib, awake: 2 * gib, servers: 2 })], unassigned: 0 },
  ],
  [
    "a server without a limit, or with one that is no quantity, is counted and takes nothing",
    [node("a")],
    [server("a", ""), server("a", "much")],
    { nodes: [room("a", { servers: 2 })], unassigned: 0 },
  ],
  [
    "a server of a node that is gone is of no node, and not unassigned either",
    [node("a")],
    [server("gone", "1Gi"), server("", "1Gi")],
    { nodes: [room("a")], unassigned: 1 },
  ],
  [
    "a node that is not approved, lost or cordoned takes no servers",
    [node("a", { approved: false }), node("b", { ready: false }), node("c", { cordoned: true })],
    [],
    {
      nodes: ["a", "b", "c"].map((name) => room(name, { takes_servers: false, cordoned: name === "c" })),
      unassigned: 0,
    },
  ],
  [
    "a node that has not said what it has has nothing",
    [node("a", { memory: "" })],
    [],
    { nodes: [room("a", { memory: 0 })], unassigned: 0 },
  ],
];
for (const [fact, nodes, servers, wanted] of table)
  test(fact, () => assert.deepEqual(roomOf(nodes, servers), wanted));

test("a node that nobody labelled has the name of its machine", () => {
  const bare: Node = { ...node("x"), metadata: { name: "bare", labels: {} } };
  assert.deepEqual(roomOf([bare], []).nodes, [room("bare", { takes_servers: false })]);
});
