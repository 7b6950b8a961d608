import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findStackFile, serviceNames } from "@svc/local-stack";

type Restarted = {
  /** How many services were ended. */
  count: number;
  /** Those of them that were not ready in time. */
  waiting: string[];
};

const readyWithinMs = 120_000;
const pauseMs = 250;

/**
 * Ends the services of a local stack on this database; its supervisor starts them again. Returns when they are ready, or
 * after two minutes.
 */
export async function restartServices(data: string, databaseUrl: string | undefined): Promise<Restarted> {
  const path = join(data, "stack.json");
  const stack = findStackFile(path);
  if (!stack || stack.database_url !== databaseUrl) return { count: 0, waiting: [] };
  const names: readonly string[] = serviceNames;
  const services = stack.processes.filter(({ name }) => names.includes(name.replace(/-\d+$/, "")));
  const ended = new Map(services.map(({ name, pid }) => [name, pid]));
  for (const [name, pid] of ended) {
    try {
      process.kill(pid, "SIGTERM");
    } catch {
      // It is being started again already, on the new rows or not: its successor counts.
      ended.set(name, 0);
    }
  }
  const endAt = Date.now() + readyWithinMs;
  for (;;) {
    const now = findStackFile(path)?.processes ?? [];
    // A process has an address of its metrics from the moment that it is ready.
    const isReady = ([name, pid]: [string, number]) =>
      now.some((one) => one.name === name && one.pid !== pid && one.metrics !== undefined);
    const waiting = [...ended].filter((one) => !isReady(one)).map(([name]) => name);
    if (waiting.length === 0 || Date.now() > endAt) return { count: ended.size, waiting };
    await delay(pauseMs);
  }
}
