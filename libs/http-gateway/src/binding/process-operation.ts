// Health and metrics of the gateway process itself (docs/reference/http.md#health).

import type { ProcessOperation } from "@svc/proto";
import type { Registry } from "@svc/telemetry";
import type { RequestState } from "../request/request-state.ts";
import { sendJson, sendResponse } from "../response/response.ts";

const healthy = Buffer.from('{"status":"ok"}');

export function processBinding(
  operation: ProcessOperation,
  registry: Registry,
): (state: RequestState) => Promise<void> {
  if (operation.answers === "health") {
    return async (state) => sendJson(state, { status: operation.http.status }, healthy);
  }
  return async (state) => {
    const body = Buffer.from(await registry.metrics());
    const headers = ["Content-Type", registry.contentType, "Cache-Control", "no-store"];
    sendResponse(state, { status: operation.http.status, headers }, body);
  };
}
