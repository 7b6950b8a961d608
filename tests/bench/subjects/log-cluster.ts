// The cluster's side of consoles: a log endpoint as Kubernetes has it, and one RCON port that answers at once.
// Lines carry the machine's monotonic clock at the moment they are printed.

import { startRconServer } from "@svc/rcon";
import { startLogCluster } from "../../../services/lifecycle/src/testing/console/log-cluster.ts";
import { type Pace, pace } from "../harness/line-rate.ts";
import { need, serveParent } from "../harness/parent.ts";

const cluster = await startLogCluster();
await startRconServer({
  host: need("BENCH_RCON_HOST"),
  port: 25_575,
  password: "bench",
  onCommand: () => "done",
});

serveParent({
  kubeconfig: () => cluster.kubeconfig,
  /** Lets every console print as often as asked. */
  print: (plan: Pace) => pace(plan, (name, line) => cluster.say(name, line)),
  following: () => cluster.following(),
});
