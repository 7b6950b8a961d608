import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Endpoint } from "./client.ts";
import { startCluster, type TestCluster } from "./embedded-cluster.ts";
import { conformanceCases } from "./suite.ts";
import { withTestContext } from "./test-context.ts";

describe("the embedded cluster passes the conformance suite", { concurrency: 8 }, () => {
  let folder = "";
  let cluster: TestCluster | undefined;
  let endpoint: Endpoint;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-conformance-"));
    cluster = await startCluster(folder);
    endpoint = cluster.endpoint;
  });
  after(async () => {
    await cluster?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const { name, run } of conformanceCases) test(name, () => withTestContext(endpoint, run));
});
