// The local stack with its servers on a real API server: services on this machine, each with the rights of its Role; game
// servers and Jobs as pods of that cluster, which its own controllers make and our nodes run.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { runInside } from "./own-network.ts";

const kubeconfig = process.env["SVC_KUBE_LANE"];

test("a stack on a real API server plays the main flow with the rights of the shipped Roles", async (t) => {
  if (!kubeconfig) return t.skip("set SVC_KUBE_LANE to the kubeconfig of a real API server");
  const dir = mkdtempSync(join(tmpdir(), "svc-on-kube-"));
  try {
    const { code, output } = await runInside(join(import.meta.dirname, "stack-inside.ts"), {
      kubeconfig,
      dir,
      isWhole,
    });
    assert.equal(code, 0, output);
    for (const line of output.trim().split("\n")) t.diagnostic(line);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
