import { after, before, test } from "node:test";
import { walkToConvergence } from "../testing/convergence.ts";
import { startTestCluster, type TestCluster } from "../testing/fixture.ts";

/** Repeat a failed walk with `SVC_WALK_SEED=<seed>`. */
const seed = Number(process.env["SVC_WALK_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster({ nodes: 0 });
});
after(() => cluster.close());

test("any sequence of wakes, stops, dying pods, lost RCON, changes, locks and crashes converges", async (t) => {
  t.diagnostic(`SVC_WALK_SEED=${seed}`);
  await walkToConvergence({ ...cluster, namespace: "minecraft" }, { seed, servers: 8, steps: 260 });
});
