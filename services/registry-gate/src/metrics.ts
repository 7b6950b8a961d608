import { Counter, Gauge, type Registry } from "@svc/telemetry";
import type { Forwarded } from "./proxy/forward.ts";

export type Meter = {
  forwarded: (right: "read" | "write", result: Forwarded) => void;
  refused: (code: string) => void;
};

export function createMeter(registry: Registry, isReadOnly: () => boolean): Meter {
  const forwarded = new Counter({
    name: "svc_registry_gate_forwarded_total",
    help: "Requests passed to the registry; `unreachable`: it did not answer, `broken`: one side ended in the middle.",
    labelNames: ["right", "outcome"],
    registers: [registry],
  });
  const refused = new Counter({
    name: "svc_registry_gate_refused_total",
    help: "Requests that the gate answered itself, by the code of the error.",
    labelNames: ["code"],
    registers: [registry],
  });
  new Gauge({
    name: "svc_registry_gate_read_only",
    help: "1 while garbage is collected and writes are refused.",
    registers: [registry],
    collect() {
      this.set(isReadOnly() ? 1 : 0);
    },
  });
  return {
    forwarded: (right, result) => {
      const status = result.kind === "answered" ? `${Math.floor(result.status / 100)}xx` : result.kind;
      forwarded.inc({ right, outcome: status });
    },
    refused: (code) => refused.inc({ code }),
  };
}
