import type { Handler } from "@svc/mesh";
import { submissions } from "@svc/proto";
import type { Settings } from "../config.ts";
import { accountOf } from "./caller.ts";
import type { SubmissionDeps } from "./deps.ts";
import { getOwnPending } from "./store.ts";
import { readStaged } from "./upload-lease.ts";

/** builds.submission.read-limits */
export const readLimits =
  ({ settings }: Pick<SubmissionDeps, "settings">): Handler<typeof submissions.readLimits> =>
  () => ({ max_context_bytes: settings.registry.context_max_bytes });

/** builds.submission.read-context-upload */
export const readContextUpload =
  ({
    db,
    settings,
  }: Pick<SubmissionDeps, "db" | "settings">): Handler<typeof submissions.readContextUpload> =>
  async ({ principal }, { id }) => {
    await getOwnPending(db, { id, userId: accountOf(principal).userId });
    return toProgress(settings, (await readStaged(db, id)).received);
  };

export function toProgress({ registry }: Settings, received: number): submissions.ContextUploadProgress {
  return {
    received,
    part_max_bytes: submissions.contextPartBytes,
    max_context_bytes: registry.context_max_bytes,
  };
}
