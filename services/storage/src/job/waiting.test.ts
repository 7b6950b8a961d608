import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Pod } from "@svc/kube";
import { waitReasonOf } from "./waiting.ts";

const scheduled = (status: string, message?: string) => ({
  conditions: [{ type: "PodScheduled", status, ...(message !== undefined && { message }) }],
});
const pod = (about: Partial<Pod>, deletionTimestamp?: string): Pod => ({
  ...{ apiVersion: "v1", kind: "Pod", spec: { containers: [] } },
  metadata: { name: "p", ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
  ...about,
});
const refused = scheduled("False", "0/2 nodes are available");

describe("why the pod of a Job waits", () => {
  const table: [fact: string, pods: Pod[], reason: string | undefined][] = [
    ["is unknown without a pod", [], undefined],
    ["is unknown before the scheduler has tried", [pod({})], undefined],
    ["is what the scheduler says", [pod({ status: refused })], "0/2 nodes are available"],
    ["may be nothing", [pod({ status: scheduled("False") })], "no node takes it"],
    ["is not asked once it has a node", [pod({ status: scheduled("True") })], undefined],
    ["is not that of a pod that is deleted", [pod({ status: refused }, "2026-01-01T00:00:00Z")], undefined],
    ["is kept short", [pod({ status: scheduled("False", "x".repeat(1_000)) })], "x".repeat(300)],
  ];
  for (const [fact, pods, reason] of table) test(fact, () => assert.equal(waitReasonOf(pods), reason));
});
