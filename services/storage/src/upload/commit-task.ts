// The task of the Job that moves a staged file into the world.

import type { StagedParts, Task } from "@svc/proto/world-task";
import { jobUrl } from "../internal-url.ts";
import type { JobSecret } from "../job/spec.ts";
import type { UploadDeps } from "./deps.ts";
import type { StoredUpload } from "./session.ts";

type CommitTask = { task: Task; secret: JobSecret };

export function commitTask(
  { settings }: Pick<UploadDeps, "settings">,
  upload: Pick<StoredUpload, "id" | "path" | "size"> & { parts: StagedParts },
  { overwrite, token }: { overwrite: boolean; token: string },
): CommitTask {
  const { id, path, size } = upload;
  const url = jobUrl(settings.storage.internal_url, `file-uploads/${id}`);
  const parts = upload.parts.map((part) => ({ size: part.size, sha256: part.sha256 }));
  return { task: { mode: "upload", path, overwrite, url, size }, secret: { token, parts } };
}
