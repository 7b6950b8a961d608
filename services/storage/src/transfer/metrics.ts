import { Counter, createDurations, Gauge, type Registry } from "@svc/telemetry";

export type TransferMetrics = {
  /** A file Job ended. */
  fileJob: (mode: string, result: string, seconds: number) => void;
  exportEnded: (kind: string, result: string) => void;
  staged: (bytes: number) => void;
  uploadsOpen: (count: number) => void;
};

export function createTransferMetrics(registry: Registry): TransferMetrics {
  const registers = [registry];
  const jobs = createDurations(registry, {
    name: "svc_file_job_duration_seconds",
    help: "Duration of file Jobs from request to end, by mode and result.",
    labels: { mode: [] as string[], result: [] as string[] },
    buckets: [0.5, 1, 2, 5, 15, 45, 90, 600, 3_600],
  });
  const exports = new Counter({
    name: "svc_exports_total",
    help: "Ended downloads, by kind and result.",
    labelNames: ["kind", "result"] as const,
    registers,
  });
  const staged = new Counter({
    name: "svc_upload_bytes_total",
    help: "Bytes of uploads staged.",
    registers,
  });
  const open = new Gauge({ name: "svc_uploads_open", help: "Uploads on the upload volume.", registers });
  return {
    fileJob: (mode, result, seconds) => jobs({ mode, result }, seconds),
    exportEnded: (kind, result) => exports.inc({ kind, result }),
    staged: (bytes) => staged.inc(bytes),
    uploadsOpen: (count) => open.set(count),
  };
}
