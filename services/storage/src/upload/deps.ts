import type { BucketStore } from "@svc/mesh";
import type { uploads } from "@svc/proto";
import type { FileDeps } from "../file/deps.ts";
import type { Staging } from "../transfer/staging.ts";

/** A part whose bytes are on their way; `until` is in Unix milliseconds. */
export type IncomingPart = { id: string; user_id: string; bytes: number; until: number };

/** What the handlers of uploads work with. */
export type UploadDeps = FileDeps & {
  uploads: BucketStore<uploads.StagedUpload>;
  uploaders: BucketStore<{ sessions: string[] }>;
  coming: BucketStore<{ parts: IncomingPart[] }>;
  staging: Staging;
};
