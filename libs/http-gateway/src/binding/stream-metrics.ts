// Event streams of this process in numbers, without a label that grows: no account, no server.

import { Counter, Gauge, type Registry } from "@svc/telemetry";

export type StreamMetrics = { sent: () => void; dropped: () => void };

/** `open` tells how many streams are open now. */
export function createStreamMetrics(registry: Registry, open: () => number): StreamMetrics {
  const registers = [registry];
  new Gauge({
    name: "svc_event_streams_open",
    help: "Event streams that are open.",
    registers,
    collect() {
      this.set(open());
    },
  });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const sent = counter("svc_event_stream_lines_total", "Lines written to viewers of event streams.");
  const dropped = counter(
    "svc_event_stream_lines_dropped_total",
    "Lines that viewers missed because they read too slowly.",
  );
  return { sent: () => sent.inc(), dropped: () => dropped.inc() };
}
