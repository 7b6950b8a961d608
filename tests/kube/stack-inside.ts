// Runs in a network of its own, started by stack.sampled.test.ts.

import { join, resolve } from "node:path";
import { connectKube } from "@svc/kube";
import { ensureArchiveVolume } from "../../services/cli/src/cluster/archive.ts";
import { applyDefinitions } from "../../services/cli/src/cluster/definitions.ts";
import { imageTable } from "../../services/cli/src/local-config/image-table.ts";
import { startStack } from "../flow/stack.ts";
import { cleanCluster, type Nodes, startNodes, writeAccounts } from "./cluster-nodes.ts";
import { playMainFlow } from "./main-flow.ts";
import { enterNetwork } from "./own-network.ts";

const repo = resolve(import.meta.dirname, "../..");
const namespaces = ["minecraft", "svc", "svc-build"];
const services = ["identity", "lifecycle", "storage", "builds", "ops-watchdog"];
const faces = ["gateway-internal", "gateway-external", "proxy", "login-gate", "lobby"];
const settings = ["lifecycle.stop_notice=1s", "lifecycle.wake_cooldown=0s", "lifecycle.arrival_window=2s"];

const inside = await enterNetwork();
const { kubeconfig, dir } = inside;
const kube = connectKube({ kubeconfigFile: kubeconfig });
let nodes: Nodes | undefined;

async function main(): Promise<void> {
  const data = join(dir, "stack");
  await cleanCluster(kube, namespaces);
  await applyDefinitions(kubeconfig);
  await ensureArchiveVolume(kubeconfig, join(data, "archive"));
  const file = join(dir, "kubeconfig");
  const accounts = ["lifecycle", "storage", "builds", "ops-watchdog"];
  await writeAccounts(kube, { kubeconfig, file, namespace: "svc" }, accounts);
  nodes = await startNodes({
    inside,
    names: ["real-1", "real-2"],
    images: imageTable(repo, process.execPath),
    args: ["--namespace", "minecraft"],
  });
  process.env["SVC_KUBECONFIG"] = file;
  const only = ["--only", [...services, ...faces].join(",")];
  const stack = await startStack([...only, ...settings.flatMap((one) => ["--set", one])], data);
  try {
    await stack.setUp();
    const { seconds } = await playMainFlow(stack, inside);
    for (const [what, took] of Object.entries(seconds)) console.log(`${what}: ${took} s`);
  } finally {
    await stack.stop();
  }
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await nodes?.close();
  await cleanCluster(kube, namespaces);
  kube.close();
  inside.close();
}
