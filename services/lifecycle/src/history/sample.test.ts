import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PodMetrics } from "@svc/kube";
import type { Server } from "../cluster/resource.ts";
import { aServer, emptyRunning } from "../testing/observed.ts";
import { decidePlatformSample, decideSamples, usagesOf } from "./sample.ts";

type Status = NonNullable<Server["status"]>;
const counted = (status: "True" | "False") =>
  [{ type: "PlayersCounted", status, reason: "Counted", message: "" }] as Status["conditions"];
const server = (name: string, changes: Partial<Status> = {}): Server => {
  const base = aServer();
  const players = { online: 3, max: 20 };
  const status = { ...emptyRunning, ready: true, players, conditions: counted("True"), ...changes } as Status;
  return { ...base, metadata: { ...base.metadata, name }, status };
};

describe("a sample", () => {
  const usage = { memoryMib: 900, cpuMilli: 250 };
  const cases: Record<string, [Server, object | undefined]> = {
    "has the players of a server that runs": [
      server("survival"),
      { name: "survival", players: 3, usage: undefined },
    ],
    "has what was measured": [server("measured"), { name: "measured", players: 3, usage }],
    "has no players while the count is unknown": [
      server("survival", { conditions: counted("False") }),
      { name: "survival", players: undefined, usage: undefined },
    ],
    "has 0 players when nobody is on": [
      server("survival", { players: { online: 0, max: 20 } }),
      { name: "survival", players: 0, usage: undefined },
    ],
    "never has more players than a step can hold": [
      server("survival", { players: { online: 2 ** 31, max: 20 } }),
      { name: "survival", players: 1_000_000, usage: undefined },
    ],
    "is not taken of a server that sleeps": [
      server("survival", { phase: "Stopped", ready: false }),
      undefined,
    ],
    "is not taken of a server that starts": [
      server("survival", { phase: "Starting", ready: false }),
      undefined,
    ],
    "is not taken of a server of the platform": [server("lobby"), undefined],
  };
  for (const [name, [of, expected]] of Object.entries(cases))
    test(name, () => assert.deepEqual(decideSamples([of], new Map([["measured", usage]]))[0], expected));
});

test("the platform counts user servers that run, and players of all servers", () => {
  const asleep = server("asleep", { phase: "Stopped", ready: false, players: { online: 9, max: 20 } });
  const unknown = server("unknown", { conditions: counted("False") });
  const sample = decidePlatformSample([server("survival"), asleep, unknown, server("lobby")]);
  assert.deepEqual(sample, { awake: 2, players: 6 });
});

describe("what the metrics API says", () => {
  type Usage = Record<string, string>;
  const pod = (name: string, ...usages: (Usage | undefined)[]): PodMetrics => ({
    apiVersion: "metrics.k8s.io/v1beta1",
    kind: "PodMetrics",
    metadata: { name },
    containers: usages.map((usage, index) => ({ name: `c${index}`, ...(usage && { usage }) })),
  });
  const cases: Record<string, [PodMetrics, object | undefined]> = {
    "is the sum of the containers": [
      pod("a-0", { cpu: "1234567890n", memory: "1048576Ki" }, { cpu: "250m", memory: "512Mi" }),
      { memoryMib: 1_536, cpuMilli: 1_485 },
    ],
    "is 0 for a server that does nothing": [
      pod("a-0", { cpu: "0", memory: "0" }),
      { memoryMib: 0, cpuMilli: 0 },
    ],
    "is a gap when a container was not measured": [
      pod("a-0", { cpu: "1", memory: "1Gi" }, undefined),
      undefined,
    ],
    "is a gap without containers": [pod("a-0"), undefined],
    "is a gap when it is not a quantity": [pod("a-0", { cpu: "many", memory: "1Gi" }), undefined],
    "is a gap below zero": [pod("a-0", { cpu: "-1", memory: "1Gi" }), undefined],
    "is not of a pod of something else": [pod("backup-a-x7f", { cpu: "1", memory: "1Gi" }), undefined],
  };
  for (const [name, [of, expected]] of Object.entries(cases))
    test(name, () => assert.deepEqual(usagesOf([of]).get("a"), expected));
});
