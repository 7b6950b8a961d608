// The event of a build that ended (docs/reference/builds.md#ended), written in the transaction of the end.

import { builds } from "@svc/proto";
import { outboxRow } from "@svc/store";
import type { Settings } from "../config.ts";
import type { BuildsTrx } from "../database.ts";
import { submissionOf } from "./policy.ts";
import type { BuildRow } from "./row.ts";

type EndedBuild = ReturnType<typeof builds.buildEnded.data.parse>;
type Pack = { id: string; submitted_by_id: string; display_name: string };

/** A scan of an image that exists is no build. */
export async function announceEnd(trx: BuildsTrx, row: BuildRow, settings: Settings): Promise<void> {
  const data = endOf(row, await findPack(trx, row, settings.builds.internal_url));
  if (data) await trx.insertInto("outbox").values(outboxRow(builds.buildEnded, data)).execute();
}

async function findPack(trx: BuildsTrx, row: BuildRow, internalUrl: string): Promise<Pack | undefined> {
  const id = submissionOf(row.context_ref, internalUrl);
  if (id === undefined) return undefined;
  return trx
    .selectFrom("image_submissions")
    .select(["id", "submitted_by_id", "display_name"])
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Undefined for what is no build, or has not ended. */
export function endOf(row: BuildRow, pack: Pack | undefined): EndedBuild | undefined {
  const { status, finished_at } = row;
  if (row.kind !== "build" || status === "pending" || status === "building" || !finished_at) return undefined;
  return {
    id: row.id,
    outcome: status,
    image_ref: row.image_ref,
    requested_by: row.requested_by,
    at: finished_at.toISOString(),
    ...(pack && { submission_id: pack.id, owner_id: pack.submitted_by_id, display_name: pack.display_name }),
    ...(row.retry_of !== null && { retry_of: row.retry_of }),
    ...(status === "succeeded" && row.image_digest !== null && { digest: row.image_digest }),
    ...(status === "failed" && row.error !== null && failureOf(row.error)),
  };
}

const stepNames = new Set<string>([...builds.BuildStep.options, "provenance"]);

/** An error is `step: cause`, or a cause alone. */
function failureOf(error: string): Pick<EndedBuild, "failed_step" | "cause"> {
  const at = error.indexOf(": ");
  const step = error.slice(0, Math.max(0, at));
  if (!stepNames.has(step)) return { cause: cut(error) };
  return { failed_step: step, cause: cut(error.slice(at + 2)) };
}

const cut = (text: string) =>
  text.length <= builds.mostCauseChars ? text : `${text.slice(0, builds.mostCauseChars - 1).toWellFormed()}…`;
