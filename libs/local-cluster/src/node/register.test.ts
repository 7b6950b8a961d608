import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { test } from "node:test";
import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { NODES } from "../controllers/refs.ts";
import { type LocalCluster, startLocalCluster } from "../start.ts";
import { makeDataDir } from "../testing/cluster.ts";

const kinds = ["identity", "role", "approved"] as const;

test("a data folder of an earlier release carries over: its nodes get protected labels and keep the old ones", async () => {
  const { dataDir, images } = await makeDataDir();
  const start = () => startLocalCluster({ dataDir, images, port: 0, nodes: 2 });
  const labelsOf = ({ api }: LocalCluster, name: string) => api.get(NODES, name).metadata.labels ?? {};
  let cluster = await start();
  try {
    const given = labelsOf(cluster, "local-1");
    const old = Object.fromEntries(kinds.map((kind) => [oldNodeLabels[kind], given[nodeLabels[kind]]]));
    const none = Object.fromEntries(kinds.map((kind) => [nodeLabels[kind], null]));
    // One of them was not approved.
    for (const [name, approved] of [
      ["local-1", "true"],
      ["local-2", "false"],
    ] as const) {
      const own = { [oldNodeLabels.identity]: name, [oldNodeLabels.approved]: approved };
      cluster.api.mergePatch(NODES, { name }, { metadata: { labels: { ...old, ...none, ...own } } });
    }
    assert.equal(labelsOf(cluster, "local-1")[nodeLabels.identity], undefined);
    await cluster.close();
    cluster = await start();
    for (const [name, approved] of [
      ["local-1", "true"],
      ["local-2", "false"],
    ] as const) {
      const labels = labelsOf(cluster, name);
      assert.deepEqual(
        kinds.map((kind) => labels[nodeLabels[kind]]),
        [name, "worker", approved],
      );
      assert.deepEqual(
        kinds.map((kind) => labels[oldNodeLabels[kind]]),
        [name, "worker", approved],
      );
    }
    // From here on only the protected ones count.
    cluster.api.mergePatch(
      NODES,
      { name: "local-1" },
      { metadata: { labels: { [nodeLabels.approved]: "false" } } },
    );
    await cluster.close();
    cluster = await start();
    assert.equal(labelsOf(cluster, "local-1")[nodeLabels.approved], "false");
  } finally {
    await cluster.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});
