import type { BucketStore } from "@svc/mesh";
import type { files } from "@svc/proto";
import type { SharedDeps } from "../transfer/deps.ts";
import type { JobSlots } from "./job-slots.ts";

/** The dependencies of the handlers of files. */
export type FileDeps = SharedDeps & {
  ops: BucketStore<files.StoredFileOp>;
  jobSlots: JobSlots;
  /** Jobs of file changes with a request of this process, which records their end itself. */
  attended: Set<string>;
};
