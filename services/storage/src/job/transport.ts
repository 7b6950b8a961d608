// A Job runs on the node of its world. When the archive folder is on another node it cannot be mounted there: then the
// archive is sent over the internal face with a ticket (docs/reference/moves.md#tickets).

import type { Place } from "@svc/proto/world-task";
import type { StorageDeps } from "../deps.ts";
import { issueTicket } from "./archive-ticket.ts";
import { findPlacement } from "./placement.ts";
import type { JobSpec, PlacedJobSpec } from "./spec.ts";

/**
 * The Job as it can run: on its node, with the archive folder mounted, or with a ticket in its place. Throws `unavailable`
 * when nothing that can be trusted says where it runs.
 */
export async function chooseTransport(
  deps: Pick<StorageDeps, "kube" | "db" | "settings" | "now">,
  spec: JobSpec,
): Promise<PlacedJobSpec> {
  const { task, world, archive: mount, ...rest } = spec;
  const location = archiveLocationIn(task);
  const isSendable = world !== undefined && mount !== undefined && location?.kind === "archive";
  const canSend = isSendable && deps.settings.storage.internal_url !== "";
  const { pin, sendsArchive } = await findPlacement(deps, spec, canSend);
  if (!sendsArchive || !world || location?.kind !== "archive") return { ...spec, pin };
  const kind = task.mode === "backup" ? "put" : "get";
  const ticket = await issueTicket(deps, { kind, job: spec.name, archive: location.name });
  const secret = { ...spec.secret, ...ticket.secret };
  const sent = task.mode === "backup" ? { ...task, to: ticket.place } : { ...task, from: ticket.place };
  return { ...rest, world, pin, secret, task: sent as JobSpec["task"] };
}

function archiveLocationIn(task: JobSpec["task"]): Place | undefined {
  if (task.mode === "backup") return task.to;
  const isReader = task.mode === "restore" || task.mode === "verify" || task.mode === "plan";
  return isReader ? task.from : undefined;
}
