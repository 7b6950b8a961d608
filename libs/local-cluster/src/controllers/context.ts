import type { ClusterApi } from "../cluster-api.ts";
import type { WorkQueue } from "./work-queue.ts";
import { createWorkQueue } from "./work-queue.ts";

/** What every controller gets. `warn` takes one sentence for the log of the process. */
export type ControllerDeps = { api: ClusterApi; warn(text: string): void };

export type Controller = { close(): Promise<void> };

/** The HTTP code of a refusal of the API server, if `error` is one. */
export function refusalCode(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

/** Runs an effect that is as good as done when the API server answers with one of `codes`. */
export function tolerate<T>(codes: number[], effect: () => T): T | undefined {
  try {
    return effect();
  } catch (error) {
    if (codes.includes(refusalCode(error) ?? 0)) return undefined;
    throw error;
  }
}

export function controllerQueue(
  name: string,
  { warn }: ControllerDeps,
  reconcile: (key: string) => number | undefined | Promise<number | undefined>,
): WorkQueue {
  return createWorkQueue({
    reconcile: async (key) => reconcile(key),
    onError: (key, error) =>
      warn(`${name} ${key} keeps failing: ${error instanceof Error ? error.message : String(error)}`),
  });
}
