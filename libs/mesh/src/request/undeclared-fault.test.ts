import assert from "node:assert/strict";
import { test } from "node:test";
import { servers } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import type { Core } from "../core.ts";
import { createMeshMetrics } from "../metrics.ts";
import { createEndpoint } from "./endpoint.ts";
import { noteUndeclaredFault } from "./undeclared-fault.ts";

test("a fault that the contract does not declare is counted each time and logged once", async () => {
  const registry = createRegistry("lifecycle", "0.0.1");
  const log = createLogger("lifecycle", "silent");
  const logged: unknown[] = [];
  log.error = (about: unknown) => void logged.push(about);
  const core = { metrics: createMeshMetrics(registry, () => 0), log } as unknown as Core;
  const endpoint = createEndpoint({ ...servers.readStatus, faults: ["not_found"] });
  for (const fault of ["not_found", "unavailable", "volume_full", "volume_full"] as const)
    noteUndeclaredFault(core, endpoint, fault);
  assert.deepEqual(logged, [{ subject: servers.readStatus.subject, fault: "volume_full" }]);
  const text = await registry.getSingleMetricAsString("svc_undeclared_faults_total");
  assert.match(text, /\{operation="lifecycle\.server\.read-status",fault="volume_full"\} 2$/m);
});
