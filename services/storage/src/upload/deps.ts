import type { BucketStore } from "@svc/mesh";
import type { uploads } from "@svc/proto";
import type { FileDeps } from "../file/deps.ts";
import type { Staging } from "../transfer/staging.ts";

/** A part in transit; `until` is in Unix milliseconds. */
export type IncomingPart = { id: string; user_id: string; bytes: number; until: number };

/** The dependencies of the handlers of uploads. */
export type UploadDeps = FileDeps & {
  uploads: BucketStore<uploads.StagedUpload>;
  uploaders: BucketStore<{ sessions: string[] }>;
  coming: BucketStore<{ parts: IncomingPart[] }>;
  staging: Staging;
};
