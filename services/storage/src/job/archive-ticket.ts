// Tickets: how a Job on a node without the archive folder sends an archive there or fetches one.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Fault } from "@svc/proto";
import type { Place } from "@svc/proto/world-task";
import type { StorageDeps } from "../deps.ts";
import { jobUrl } from "../internal-url.ts";
import { newToken } from "../one-time-token.ts";
import { openArchiveFolder } from "../volume/archive-folder.ts";
import { deleteTickets, insertTicket, isArchiveOfBackup } from "./archive-ticket-store.ts";
import type { JobSecret } from "./spec.ts";

/** The URL of the archive for the Job, and its secret. */
export type Ticket = { place: Place; secret: JobSecret };

type Deps = Pick<StorageDeps, "db" | "settings" | "now">;

/** A retry issues another ticket; the Job only knows the one it was created with. */
export async function issueTicket(
  { db, settings, now }: Deps,
  about: { kind: "put" | "get"; job: string; archive: string },
): Promise<Ticket> {
  const { token, hash } = newToken();
  const id = randomBytes(8).toString("hex");
  const { move_ticket, internal_url } = settings.storage;
  const expires_at = new Date(now() + move_ticket);
  await insertTicket(db, { ...about, id, token_hash: hash, expires_at });
  return {
    place: { kind: "url", url: jobUrl(internal_url, `archives/${id}`) },
    secret: { token },
  };
}

/** These Jobs can no longer send or fetch; archives without a backup record are deleted. */
export async function revokeTickets(
  { db, settings }: Pick<StorageDeps, "db" | "settings">,
  jobs: readonly string[],
): Promise<void> {
  const { local_path } = settings.archive;
  const folder = openArchiveFolder(local_path);
  for (const archive of await deleteTickets(db, jobs)) {
    if (await isArchiveOfBackup(db, join(local_path, archive))) continue;
    await folder.remove(archive);
    await folder.remove(`.${archive}.partial`);
  }
}

/** Throws when Jobs on other nodes could not reach the archive folder. */
export function assertTicketsEnabled({ settings }: Pick<StorageDeps, "settings">): void {
  if (settings.storage.internal_url !== "") return;
  throw new Fault("unavailable", {
    message: "Moves are not configured: storage.internal_url is empty, so no Job can send an archive.",
  });
}
