// The pending submissions of a closed account go, with their contexts.

import type { Mesh } from "@svc/mesh";
import { accounts, durableNamed, parseNewer } from "@svc/proto";
import type { SubmissionDeps } from "./deps.ts";
import { blobsOf } from "./row.ts";
import { removeQuietly } from "./upload-lease.ts";

const durable = "builds-accounts";
const maxAttempts = 100_000;

export async function followAccounts(
  mesh: Pick<Mesh, "consume">,
  deps: Pick<SubmissionDeps, "db" | "contexts" | "log">,
): Promise<void> {
  const { stream, subjects } = durableNamed(durable);
  await mesh.consume({
    durable,
    stream,
    subjects,
    maxAttempts,
    parse: (body) => parseNewer(accounts.accountRetired.data, body),
    handle: async ({ data }) => {
      if (data.by !== "disabled") await removePending(deps, data.user_id);
    },
  });
}

async function removePending(
  deps: Pick<SubmissionDeps, "db" | "contexts" | "log">,
  userId: string,
): Promise<void> {
  const rows = await deps.db
    .deleteFrom("image_submissions")
    .where("submitted_by_id", "=", userId)
    .where("status", "=", "pending_review")
    .returningAll()
    .execute();
  // What was staged is swept.
  await removeQuietly(deps, rows.flatMap(blobsOf));
  if (rows.length > 0)
    deps.log.info({ user: userId, submissions: rows.length }, "submissions of a closed account removed");
}
