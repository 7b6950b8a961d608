// Starts a download: recorded, counted, then its Job (docs/reference/exports.md#ticket).

import { type exports, Fault } from "@svc/proto";
import { jobUrl } from "../internal-url.ts";
import { createJob } from "../job/begin.ts";
import { label, newJobName } from "../job/names.ts";
import type { JobSpec } from "../job/spec.ts";
import { finishJob, insertJob, type NewJob } from "../job/store.ts";
import type { WorldServer } from "../job/world.ts";
import { admit, refund } from "./admit.ts";
import type { ExportDeps } from "./deps.ts";
import { newSecrets, type Secrets } from "./secret.ts";
import type { StoredExport } from "./state.ts";

type ExportRequest = Pick<StoredExport, "kind" | "filename" | "content_type" | "user_id" | "is_staff"> &
  Partial<Pick<StoredExport, "expected" | "backup_id" | "path">> & {
    world: WorldServer;
    what: Extract<JobSpec["task"], { mode: "export" }>["what"];
    startedBy: string;
    /** Throws when the lock of the world is lost. */
    assertHeld?: () => void;
  };

/** Throws `export_busy`; then nothing is left behind. */
export async function startExport(
  deps: Pick<ExportDeps, "kube" | "db" | "settings" | "now" | "exports" | "exportStarts">,
  request: ExportRequest,
): Promise<exports.ExportTicket> {
  const secrets = newSecrets();
  const { id } = secrets;
  const stored = storedOf(deps, request, secrets);
  const { export_appear, export_deadline } = deps.settings.storage;
  await deps.exports.create(id, stored, { ttlMs: export_appear + export_deadline });
  try {
    await admit(deps, stored);
    await begin(deps, request, { secrets, job: stored.job });
  } catch (error) {
    await deps.exports.delete(id).catch(() => {});
    await refund(deps, stored);
    throw error;
  }
  return { ticket: secrets.ticket, state: "pending", filename: request.filename };
}

function storedOf(
  deps: Pick<ExportDeps, "now">,
  request: ExportRequest,
  { id, ticketHash, tokenHash }: Secrets,
): StoredExport {
  const {
    kind,
    filename,
    content_type,
    user_id,
    is_staff = false,
    expected,
    backup_id,
    path,
    world,
  } = request;
  const at = deps.now();
  return {
    id,
    kind,
    server: world.name,
    user_id,
    is_staff,
    filename,
    content_type,
    ...(expected && { expected }),
    ...(backup_id !== undefined && { backup_id }),
    ...(path !== undefined && { path }),
    job: newJobName("export", world.name),
    state: "pending",
    ticket_hash: ticketHash,
    token_hash: tokenHash,
    started_at: at,
    changed_at: at,
  };
}

const rowKind = {
  backup: "export_backup",
  world: "export_world",
  file: "export_files",
  folder: "export_files",
} as const;

async function begin(
  deps: Pick<ExportDeps, "kube" | "db" | "settings" | "now">,
  request: ExportRequest,
  { secrets, job }: { secrets: Secrets; job: string },
): Promise<void> {
  const { world, kind } = request;
  const row: NewJob = {
    job,
    server_name: world.name,
    kind: rowKind[kind],
    owner_id: world.owner_id ?? null,
    started_by: request.startedBy,
    started_at: new Date(deps.now()),
  };
  await deps.db.transaction().execute((trx) => insertJob(trx, row));
  try {
    request.assertHeld?.();
    await createJob(deps, jobOf(deps, request, { secrets, job }));
  } catch (error) {
    const message = `the job could not be created: ${(error as Error).message}`;
    await finishJob(deps.db, job, {
      state: "failed",
      message,
      code: "job_failed",
      at: new Date(deps.now()),
    }).catch(() => {});
    throw error;
  }
}

function jobOf(
  deps: Pick<ExportDeps, "settings">,
  request: ExportRequest,
  { secrets, job }: { secrets: Secrets; job: string },
): JobSpec {
  const { storage } = deps.settings;
  const url = jobUrl(storage.internal_url, `exports/${secrets.id}`);
  const isBackup = request.kind === "backup";
  return {
    name: job,
    server: request.world.name,
    manager: "svc-export",
    task: { mode: "export", what: request.what, url },
    deadlineMs: storage.export_deadline + storage.export_appear,
    secret: { token: secrets.token },
    ttlMs: storage.job_ttl,
    ...(isBackup
      ? // The download of a backup locks no world: its Job has no server label.
        { archive: "ro", labels: { [label.server]: "", [backupOf]: request.world.name } }
      : { world: { claim: request.world.volume_claim, mode: "ro" } }),
  };
}

const backupOf = "svc.internal/backup-of";

/** Throws `export_unavailable` when downloads are not configured. */
export function assertExports({ settings }: Pick<ExportDeps, "settings">): void {
  const { agent_image, internal_url } = settings.storage;
  if (agent_image !== "" && internal_url !== "") return;
  const missing = agent_image === "" ? "storage.agent_image" : "storage.internal_url";
  throw new Fault("export_unavailable", { message: `Downloads are not configured: ${missing} is empty.` });
}
