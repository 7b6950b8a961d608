import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotation, type Server } from "../cluster/resource.ts";
import { adoptionOf } from "./adoption.ts";

const now = Date.parse("2026-01-01T12:00:00.000Z");
const own: Server = {
  ...{ apiVersion: "svc.internal/v1alpha1", kind: "MinecraftServer" },
  metadata: {
    ...{ name: "mine", generation: 1, creationTimestamp: "2026-01-01T11:59:00Z" },
    annotations: { [annotation.createdBy]: "usr-1", [annotation.offered]: "false" },
  },
  spec: {
    subdomain: "mine",
    image: "a:1",
    resources: { limits: { memory: "1Gi" } },
    storage: { size: "2Gi" },
  },
};
const changed = (metadata: Partial<Server["metadata"]>): Server => ({
  ...own,
  metadata: { ...own.metadata, ...metadata },
});

describe("the account that gets a server whose creation was not recorded", () => {
  const cases: readonly (readonly [fact: string, server: Server, creator: string | undefined])[] = [
    ["is the one that made it", own, "usr-1"],
    ["is nobody where staff made it", changed({ annotations: {} }), undefined],
    [
      "is nobody once it was woken or changed: it may have a world of somebody else",
      changed({ generation: 2 }),
      undefined,
    ],
    ["is nobody after an hour", changed({ creationTimestamp: "2026-01-01T11:00:00Z" }), undefined],
    ["is nobody where its age is not known", changed({ creationTimestamp: undefined as never }), undefined],
  ];
  for (const [fact, server, creator] of cases)
    test(fact, () => assert.equal(adoptionOf(server, now).creator?.id, creator));

  test("gets it with what it costs, and nobody else can claim it", () => {
    assert.deepEqual(adoptionOf(own, now), {
      ...{ name: "mine", subdomain: "mine", offered: false, order: undefined },
      creator: { id: "usr-1", costs: { cpuMilli: 0, memoryMb: 1_024, storageMb: 2_048 } },
    });
  });
});
