import type { Mesh } from "@svc/mesh";
import type { Logger } from "@svc/telemetry";
import type { Settings } from "../config.ts";
import type { ContextStore } from "../context/store.ts";
import type { BuildsDb } from "../database.ts";
import type { SubmissionMetrics } from "./metrics.ts";

/** What the handlers of submissions work with. */
export type SubmissionDeps = {
  db: BuildsDb;
  settings: Settings;
  contexts: ContextStore;
  byteTransfers: Mesh["byteTransfers"];
  log: Pick<Logger, "info" | "warn">;
  metrics: Pick<SubmissionMetrics, "received" | "reviewed">;
  /** Mails that were queued are sent soon. */
  onNotice: () => void;
  /** Runs one check of an archive at a time, and few at once. */
  slots: { run: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T> };
};
