import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type LocalCluster, startLocalCluster } from "../start.ts";
import type { Endpoint } from "./client.ts";
import { conformanceCases } from "./suite.ts";
import { inWorld } from "./world.ts";

describe("the embedded cluster keeps to the conformance suite", { concurrency: 8 }, () => {
  let folder = "";
  let cluster: LocalCluster | undefined;
  let endpoint: Endpoint;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-conformance-"));
    const images = join(folder, "images.json");
    await writeFile(images, "{}");
    // No nodes: pods stay Pending, as they do where the suite runs against a bare API server.
    const tokens = [{ token: "nobody-token", user: "nobody", groups: [] }];
    cluster = await startLocalCluster({ dataDir: join(folder, "data"), port: 0, images, nodes: 0, tokens });
    endpoint = { url: cluster.url, adminToken: cluster.adminToken, nobodyToken: "nobody-token" };
  });
  after(async () => {
    await cluster?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const { name, run } of conformanceCases) test(name, () => inWorld(endpoint, run));
});
