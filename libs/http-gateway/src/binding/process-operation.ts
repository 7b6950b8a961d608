// What a gateway answers about its own process (interface.md 4.2).

import type { ProcessOperation } from "@svc/proto";
import type { Registry } from "@svc/telemetry";
import type { Exchange } from "../request/request-state.ts";
import { answer, answerJson } from "../response/response.ts";

const healthy = Buffer.from('{"status":"ok"}');

export function processBinding(
  operation: ProcessOperation,
  registry: Registry,
): (exchange: Exchange) => Promise<void> {
  if (operation.answers === "health") {
    return async (exchange) => answerJson(exchange, { status: operation.http.status }, healthy);
  }
  return async (exchange) => {
    const body = Buffer.from(await registry.metrics());
    const headers = ["Content-Type", registry.contentType, "Cache-Control", "no-store"];
    answer(exchange, { status: operation.http.status, headers }, body);
  };
}
