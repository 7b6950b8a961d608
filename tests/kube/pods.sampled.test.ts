// An installation on a real API server: every object of the manifests for one machine, and every pod as a cluster runs it, with
// the network, files, user, volumes, probes and token that its manifest says.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { connectKube, type Pod } from "@svc/kube";
import { runInside } from "./own-network.ts";

const kubeconfig = process.env["SVC_KUBE_LANE"];

/** Whether pods get the token of their account, as everywhere but on a server that was told to leave it out. */
async function givesTokens(file: string): Promise<boolean> {
  const kube = connectKube({ kubeconfigFile: file });
  const body = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "has-token" },
    spec: { containers: [{ name: "one", image: "one" }] },
  };
  const path = "/api/v1/namespaces/default/pods";
  const made = await kube.transport.request({ method: "POST", path, query: { dryRun: "All" }, body });
  kube.close();
  return ((made as Pod).spec?.volumes ?? []).length > 0;
}

test("an installation on a real API server: all services run as pods of the manifests and, in whole, play the main flow", async (t) => {
  if (!kubeconfig) return t.skip("set SVC_KUBE_LANE to the kubeconfig of a real API server");
  if (process.getuid?.() !== 0) return t.skip("only root may give pods networks of their own");
  if (!(await givesTokens(kubeconfig)))
    return t.skip("the API server gives pods no tokens: KUBE_SA_ADMISSION=1");
  const dir = mkdtempSync(join(tmpdir(), "svc-pods-"));
  try {
    const file = join(import.meta.dirname, "pods-inside.ts");
    const { code, output } = await runInside(file, {
      kubeconfig,
      dir,
      hasPodNetworks: true,
      isWhole,
    });
    assert.equal(code, 0, output);
    for (const line of output.trim().split("\n")) t.diagnostic(line);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
