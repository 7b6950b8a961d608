import { Gauge, type Registry } from "@svc/telemetry";
import type { Store } from "./store.ts";

/** Shows the pool of a store and the backlog of its outbox on `/metrics`; returns what the relay reports to. */
export function measureStore(
  registry: Registry,
  { connections }: Pick<Store<unknown>, "connections">,
): { onBacklog: (rows: number) => void } {
  const registers = [registry];
  new Gauge({
    name: "svc_database_connections",
    help: "Connections of the pool to PostgreSQL, by state: busy or idle.",
    labelNames: ["state"] as const,
    registers,
    collect() {
      const { busy, idle } = connections();
      this.set({ state: "busy" }, busy);
      this.set({ state: "idle" }, idle);
    },
  });
  new Gauge({
    name: "svc_database_waiting",
    help: "Statements that wait for a connection of the pool.",
    registers,
    collect() {
      this.set(connections().waiting);
    },
  });
  const backlog = new Gauge({
    name: "svc_outbox_waiting",
    help: "Events that this process has read from the outbox and not published yet; 0 in replicas that do not relay.",
    registers,
  });
  return { onBacklog: (rows) => backlog.set(rows) };
}
