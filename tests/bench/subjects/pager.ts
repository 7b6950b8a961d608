// Asks lifecycle for one page of its server list over the bus, as a gateway does when it has no view.

import { connectMesh } from "@svc/mesh";
import { servers } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { need, serveParent } from "../harness/parent.ts";
import { quantile } from "../harness/statistics.ts";

const mesh = await connectMesh({
  service: "gateway-internal",
  url: need("SVC_NATS_URL"),
  user: need("SVC_NATS_USER"),
  password: need("SVC_NATS_PASSWORD"),
  version: "bench",
  log: createLogger("pager", "warn"),
});
const principal = { kind: "caller", caller: "velocity" } as const;

type Plan = { cursor: string; callers: number; durationMs: number };

async function run({ cursor, callers, durationMs }: Plan) {
  const latencies: number[] = [];
  let bytes = 0;
  const endAt = performance.now() + durationMs;
  const worker = async () => {
    while (performance.now() < endAt) {
      const startedAt = performance.now();
      const { body } = await mesh.forward(servers.list, { cursor }, { principal });
      bytes = body.byteLength;
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, worker));
  const sorted = Float64Array.from(latencies).sort();
  return { requests: sorted.length, bytes, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

serveParent({ run });
