import type { BucketStore } from "@svc/mesh";
import type { exports } from "@svc/proto";
import type { SharedDeps } from "../transfer/deps.ts";

/** What the handlers of downloads work with. */
export type ExportDeps = SharedDeps & {
  exports: BucketStore<exports.StoredExport>;
  exportStarts: BucketStore<{ starts: { id: string; at: number }[] }>;
};
