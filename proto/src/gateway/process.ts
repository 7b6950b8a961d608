// What a gateway answers about its own process (docs/reference/http.md#health).

import type { ProcessOperation } from "../contract.ts";

const shared = {
  kind: "json",
  method: "GET",
  tier: "public",
  callers: [],
  setup: false,
  rateLimited: false,
  status: 200,
} as const;

export const health: ProcessOperation = {
  type: "process",
  answers: "health",
  http: { ...shared, path: "/healthz", faces: ["internal", "external"] },
  summary: "200 whenever the process is up.",
  spec: "docs/reference/http.md#health",
};

export const metrics: ProcessOperation = {
  type: "process",
  answers: "metrics",
  http: { ...shared, path: "/metrics", faces: ["internal"] },
  summary: "Prometheus metrics of this gateway.",
  spec: "docs/reference/http.md#health",
};
