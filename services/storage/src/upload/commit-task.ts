// The task of the Job that moves a staged file into the world.

import type { Task } from "@svc/proto/world-task";
import { jobUrl } from "../internal-url.ts";
import type { JobSecret } from "../job/spec.ts";
import type { UploadDeps } from "./deps.ts";
import type { StoredUpload } from "./session.ts";

type CommitTask = { task: Task; secret: JobSecret };

export function commitTask(
  { settings }: Pick<UploadDeps, "settings">,
  upload: Pick<StoredUpload, "id" | "path" | "size">,
  about: { overwrite: boolean; sha256: string; token: string },
): CommitTask {
  const { id, path, size } = upload;
  const { overwrite, sha256, token } = about;
  const url = jobUrl(settings.storage.internal_url, `file-uploads/${id}`);
  return {
    task: { mode: "upload", path, overwrite, url, size, sha256 },
    secret: { token },
  };
}
