import { Counter, Gauge, type Registry } from "@svc/telemetry";

export type ConsoleMetrics = { written: (lines: number) => void; dropped: () => void };

export function createConsoleMetrics(registry: Registry, follows: () => number): ConsoleMetrics {
  const registers = [registry];
  new Gauge({
    name: "svc_console_follows",
    help: "Server logs that this replica follows for viewers.",
    registers,
    collect() {
      this.set(follows());
    },
  });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const written = counter("svc_console_lines_total", "Log lines published for viewers.");
  const dropped = counter(
    "svc_console_lines_dropped_total",
    "Log lines dropped because a server printed too fast.",
  );
  return { written: (lines) => written.inc(lines), dropped: () => dropped.inc() };
}
