// What all parts of a mesh share.

import type { ServiceName } from "@svc/proto";
import type { Logger, Tracing } from "@svc/telemetry";
import type { Repeats } from "./api.ts";
import type { Connection } from "./connection/nats-connection.ts";
import type { MeshMetrics } from "./metrics.ts";

export type Core = {
  service: ServiceName | "operator";
  /** Names this process among the replicas of its service. */
  instance: string;
  version: string;
  connection: Connection;
  log: Logger;
  metrics: MeshMetrics;
  tracing: Tracing;
  /** A digest of a text that only processes with this service's password can compute. */
  keyed: (text: string) => string;
  checksEncoded: boolean;
  /** Set by an owner that answers repeated requests. */
  repeats?: Repeats;
  /** Aborts when the process stops waiting for what is in flight. */
  closing: AbortSignal;
};
