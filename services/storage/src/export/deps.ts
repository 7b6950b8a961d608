import type { BucketStore } from "@svc/mesh";
import type { exports } from "@svc/proto";
import type { SharedDeps } from "../transfer/deps.ts";

/** The dependencies of the handlers of downloads. */
export type ExportDeps = SharedDeps & {
  exports: BucketStore<exports.StoredExport>;
  exportStarts: BucketStore<{ starts: { id: string; at: number }[] }>;
};
