import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "@svc/kube";
import { builderIn } from "./observe.ts";

const digest = `sha256:${"a".repeat(64)}`;
const said = { context_digest: "c".repeat(64), builder: { name: "buildah", version: "1.28.2" } };

function podWith({ agent, builder, imageID }: { agent: string; builder: string; imageID?: string }): Pod {
  const images = { "context-fetch": agent, build: builder };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "build-1" },
    spec: {
      initContainers: Object.entries(images).map(([name, image]) => ({ name, image })),
      containers: [],
    },
    status: { initContainerStatuses: [{ name: "build", restartCount: 0, ...(imageID && { imageID }) }] },
  };
}

const agent = "svc/agent:1";
const table: Record<
  string,
  [given: Parameters<typeof podWith>[0], wanted: { name: string; version: string }]
> = {
  "of the same image is what the step before it said": [{ agent, builder: agent }, said.builder],
  "of another image is that image, by the digest that the node names": [
    { agent, builder: "svc/builder:1", imageID: `docker-pullable://svc/builder@${digest}` },
    { name: "svc/builder:1", version: digest },
  ],
  "of an image that is pinned has its name once": [
    { agent, builder: `svc/builder:1@${digest}`, imageID: digest },
    { name: "svc/builder:1", version: digest },
  ],
  "of an image without a digest is unknown": [
    { agent, builder: "svc/builder:1" },
    { name: "svc/builder:1", version: "unknown" },
  ],
};
for (const [fact, [given, wanted]] of Object.entries(table))
  test(`the builder ${fact}`, () => assert.deepEqual(builderIn(podWith(given), said), wanted));
