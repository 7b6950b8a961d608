import { createWorkQueue, type WorkQueue } from "@svc/kube/work-queue";
import type { Awaitable, ClusterApi } from "../cluster-api.ts";

/** The dependencies of every controller. `warn` writes one sentence to the log of the process. */
export type ControllerDeps = { api: ClusterApi; warn(text: string): void };

export type Controller = { close(): Promise<void> };

/** The HTTP code of an error response of the API server, if `error` is one. */
function refusalCode(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

/** Runs an effect; one of `codes` from the API server counts as success. */
export function tolerate<T>(codes: number[], effect: () => T): T | undefined {
  try {
    return effect();
  } catch (error) {
    if (codes.includes(refusalCode(error) ?? 0)) return undefined;
    throw error;
  }
}

const firstBackOffMs = 20;

/** As `tolerate`, for an API server that may be remote. */
export async function tolerated<T>(codes: number[], effect: () => Awaitable<T>): Promise<T | undefined> {
  try {
    return await effect();
  } catch (error) {
    if (codes.includes(refusalCode(error) ?? 0)) return undefined;
    throw error;
  }
}

export function controllerQueue(
  name: string,
  { warn }: Pick<ControllerDeps, "warn">,
  reconcile: (key: string) => number | undefined | Promise<number | undefined>,
): WorkQueue {
  return createWorkQueue({
    concurrency: 1,
    firstBackOffMs,
    highestBackOffMs: 30_000,
    handle: async (key) => reconcile(key),
    onError: (key, error, retryMs) => {
      // A lost race is normal under optimistic concurrency; only a repeated failure is worth a warning.
      if (retryMs < firstBackOffMs * 2 ** 3) return;
      warn(`${name} ${key} keeps failing: ${error instanceof Error ? error.message : String(error)}`);
    },
  });
}
