import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolumeClaim } from "@svc/kube";
import type { nodes } from "@svc/proto";
import { label, type Server } from "../cluster/resource.ts";
import { type Found, planUnstarted } from "./unstarted.ts";

const gib = 2 ** 30;
const room = (name: string, free: number, about: Partial<nodes.NodeRoom> = {}): nodes.NodeRoom => ({
  ...{ name, memory: (free + 1) * gib, assigned: gib, awake: 0, servers: 1 },
  ...{ takes_servers: true, cordoned: false, ...about },
});
const claim = (about: Partial<PersistentVolumeClaim>): PersistentVolumeClaim => ({
  ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "world" }, ...about },
});

function found(
  name: string,
  memory: string,
  about: Partial<Omit<Found, "server">> & { server?: object } = {},
): Found {
  const { server, ...rest } = about;
  const spec = { nodeName: "a", resources: { limits: { memory } } };
  const metadata = { name, generation: 2 };
  const status = { phase: "Stopped", observedGeneration: 2 };
  const resting = { metadata, spec, status, ...server } as unknown as Server;
  return { server: resting, claim: undefined, hasPod: false, isHeld: false, ...rest };
}

type Plan = { placed: [name: string, to: string][]; stay: [name: string, reason: string][] };
const none: Plan = { placed: [], stay: [] };
const stays = (reason: string): Plan => ({ placed: [], stay: [["s", reason]] });
const goes: Plan = { placed: [["s", "b"]], stay: [] };

const table: [fact: string, found: Found[], rooms: nodes.NodeRoom[], to: string | undefined, plan: Plan][] = [
  ["nothing is there", [], [room("b", 9)], undefined, none],
  ["without a claim it goes", [found("s", "1Gi")], [room("b", 9)], undefined, goes],
  [
    "with a claim that has no volume it goes",
    [found("s", "1Gi", { claim: claim({}) })],
    [room("b", 9)],
    undefined,
    goes,
  ],
  [
    "with a volume it is to be moved",
    [found("s", "1Gi", { claim: claim({ spec: { volumeName: "pv" } }) })],
    [room("b", 9)],
    undefined,
    none,
  ],
  [
    "so is one that is bound",
    [found("s", "1Gi", { claim: claim({ status: { phase: "Bound" } }) })],
    [room("b", 9)],
    undefined,
    none,
  ],
  [
    "and one whose claim is being deleted",
    [
      found("s", "1Gi", {
        claim: claim({ metadata: { name: "w", deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      }),
    ],
    [room("b", 9)],
    undefined,
    none,
  ],
  [
    "a volume that is being made there keeps it",
    [
      found("s", "1Gi", {
        claim: claim({ metadata: { name: "w", annotations: { "volume.kubernetes.io/selected-node": "a" } } }),
      }),
    ],
    [room("b", 9)],
    undefined,
    stays("volume_being_made"),
  ],
  ["a pod keeps it", [found("s", "1Gi", { hasPod: true })], [room("b", 9)], undefined, stays("awake")],
  [
    "so does a start that nobody has seen",
    [found("s", "1Gi", { server: { status: { phase: "Stopped", observedGeneration: 1 } } })],
    [room("b", 9)],
    undefined,
    stays("awake"),
  ],
  ["a lock keeps it", [found("s", "1Gi", { isHeld: true })], [room("b", 9)], undefined, stays("held")],
  [
    "one of the platform is left out",
    [found("s", "1Gi", { server: { metadata: { name: "s", labels: { [label.systemRole]: "lobby" } } } })],
    [room("b", 9)],
    undefined,
    none,
  ],
  ["the node itself is no target", [found("s", "1Gi")], [room("a", 9)], undefined, stays("no_node")],
  [
    "nor is one that takes no servers",
    [found("s", "1Gi")],
    [room("b", 9, { takes_servers: false })],
    undefined,
    stays("no_node"),
  ],
  ["nor any but a named one", [found("s", "1Gi")], [room("c", 9), room("b", 2)], "b", goes],
  ["without room it stays", [found("s", "4Gi")], [room("b", 2)], undefined, stays("no_room")],
  [
    "the largest goes first, each to the node with the most room",
    [found("small", "1Gi"), found("large", "5Gi"), found("middle", "3Gi")],
    [room("b", 8), room("c", 6)],
    undefined,
    {
      placed: [
        ["large", "b"],
        ["middle", "c"],
        ["small", "b"],
      ],
      stay: [],
    },
  ],
];
for (const [fact, all, rooms, to, wanted] of table)
  test(`a server without a world: ${fact}`, () => {
    const { placed, stay } = planUnstarted(all, rooms, { from: "a", to });
    assert.deepEqual(
      {
        placed: placed.map((one) => [one.server.metadata.name, one.to]),
        stay: stay.map(({ name, reason }) => [name, reason]),
      },
      wanted,
    );
  });
