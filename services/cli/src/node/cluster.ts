// Commands about nodes that need a kubeconfig, as `svc doctor --cluster` does.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { connectKube, type Kube } from "@svc/kube";
import { callerDir, kubectlConfigFile } from "../config.ts";
import { CommandError } from "../output.ts";

/** `task` says what a kubeconfig without the rights may not do, as in "approve nodes". */
export async function inCluster<T>(
  { kubeconfig, task }: { kubeconfig: string | undefined; task: string },
  run: (kube: Kube) => Promise<T>,
): Promise<T> {
  const given = kubeconfig && resolve(callerDir, kubeconfig);
  const file = given || kubectlConfigFile;
  if (!existsSync(file))
    throw new CommandError(
      `${file} not found; name the kubeconfig of the cluster with --kubeconfig FILE. The local stack needs no command to ${task}`,
    );
  const kube = connectKube({ kubeconfigFile: file });
  try {
    return await run(kube);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 403) throw error;
    throw new CommandError(`this kubeconfig may not ${task}: ${(error as Error).message}`);
  } finally {
    kube.close();
  }
}
