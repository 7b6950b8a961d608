import assert from "node:assert/strict";
import { test } from "node:test";
import type { nodes } from "@svc/proto";
import { type DrainPlan, type NodeServer, planDrain } from "./plan.ts";

const server = (name: string, memory: number, about: Partial<NodeServer> = {}): NodeServer => ({
  ...{ name, memory, isAwake: false, isSystem: false },
  ...about,
});
const node = (name: string, free: number, about: Partial<nodes.NodeRoom> = {}): nodes.NodeRoom => ({
  ...{ name, memory: 100 + free, assigned: 100, awake: 0, servers: 1, takes_servers: true, cordoned: false },
  ...about,
});
const moves = (...all: [name: string, to: string][]): DrainPlan["moves"] =>
  all.map(([name, to]) => ({ name, to, isAwake: false }));

type Row = [
  fact: string,
  servers: NodeServer[],
  nodes: nodes.NodeRoom[],
  to: string | undefined,
  wanted: DrainPlan,
];
const table: Row[] = [
  [
    "nothing is there, so nothing moves",
    [],
    [node("b", 9)],
    undefined,
    { unstarted: [], moves: [], stay: [] },
  ],
  [
    "each goes to the node with the most room, the largest first",
    [server("small", 1), server("large", 5), server("middle", 3)],
    [node("a", 99), node("b", 8), node("c", 6)],
    undefined,
    { unstarted: [], moves: moves(["large", "b"], ["middle", "c"], ["small", "b"]), stay: [] },
  ],
  [
    "what has no room stays, and smaller ones still go",
    [server("large", 9), server("small", 2)],
    [node("b", 4)],
    undefined,
    {
      unstarted: [],
      moves: moves(["small", "b"]),
      stay: [{ name: "large", why: "no node has so much memory left" }],
    },
  ],
  [
    "nodes that take no servers, and the one that is drained, are no targets",
    [server("one", 1)],
    [node("a", 99), node("b", 99, { takes_servers: false })],
    undefined,
    { unstarted: [], moves: [], stay: [{ name: "one", why: "no other node takes servers" }] },
  ],
  [
    "a named target is the only one",
    [server("one", 1)],
    [node("b", 99), node("c", 2)],
    "c",
    { unstarted: [], moves: moves(["one", "c"]), stay: [] },
  ],
  [
    "servers of the platform stay",
    [server("lobby", 1, { isSystem: true })],
    [node("b", 9)],
    undefined,
    {
      unstarted: [],
      moves: [],
      stay: [{ name: "lobby", why: "it belongs to the platform; its pod is rescheduled" }],
    },
  ],
  [
    "sleeping servers go first",
    [server("awake", 5, { isAwake: true }), server("asleep", 1)],
    [node("b", 9)],
    undefined,
    {
      unstarted: [],
      moves: [
        { name: "asleep", to: "b", isAwake: false },
        { name: "awake", to: "b", isAwake: true },
      ],
      stay: [],
    },
  ],
  [
    "a server without a limit goes where there is no room left, too",
    [server("one", 0)],
    [node("b", 0)],
    undefined,
    { unstarted: [], moves: moves(["one", "b"]), stay: [] },
  ],
];
test("servers without a world are bound elsewhere, and take their memory there first", () => {
  const all = [server("new", 3), server("fresh", 9, { isAwake: true }), server("old", 4), server("held", 1)];
  const anew: NonNullable<Parameters<typeof planDrain>[2]["anew"]> = {
    placed: [{ name: "new", to: "b" }],
    stay: [
      { name: "fresh", reason: "awake" },
      { name: "held", reason: "held" },
    ],
  };
  assert.deepEqual(planDrain(all, [node("b", 6), node("c", 5)], { from: "a", anew }), {
    unstarted: [
      { name: "new", to: "b", isAwake: false },
      { name: "fresh", isAwake: true },
    ],
    moves: moves(["old", "c"]),
    stay: [{ name: "held", why: "its world is being worked on" }],
  });
});

for (const [fact, servers, rooms, to, wanted] of table)
  test(fact, () => assert.deepEqual(planDrain(servers, rooms, { from: "a", to }), wanted));
