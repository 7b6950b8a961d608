// What an administrator prepares on a real API server for a run, and what is removed from it afterwards.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube } from "@svc/kube";
import { ensureArchiveVolume } from "../../services/cli/src/cluster/archive.ts";
import { applyDefinitions } from "../../services/cli/src/cluster/definitions.ts";
import { cleanCluster, writeAccounts } from "../kube/cluster-nodes.ts";

const namespaces = ["minecraft", "svc", "svc-build"];
// The controllers of a cluster remove some twenty claims a second.
const removedWithinMs = 1_800_000;
const accounts = ["lifecycle", "storage", "builds", "ops-watchdog"];

/** Answers a kubeconfig beside which those of the services are, each with the rights of its Role. */
export async function prepareCluster(
  kubeconfig: string,
): Promise<{ kubeconfig: string; clean: () => Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), "svc-scale-cluster-"));
  const kube = connectKube({ kubeconfigFile: kubeconfig });
  await cleanCluster(kube, namespaces, removedWithinMs);
  await applyDefinitions(kubeconfig);
  await ensureArchiveVolume(kubeconfig, join(dir, "archive"));
  const file = join(dir, "kubeconfig");
  await writeAccounts(kube, { kubeconfig, file, namespace: "svc" }, accounts);
  return {
    kubeconfig: file,
    clean: async () => {
      await cleanCluster(kube, namespaces, removedWithinMs);
      kube.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
