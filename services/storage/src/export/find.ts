import { carries, exports as contracts, Fault, isFault, type Principal, reaches } from "@svc/proto";
import { mayAccess, scopeAt, type Wanted } from "../access.ts";
import { findBackup } from "../backup/store.ts";
import { describeWorld, type WorldServer } from "../job/world.ts";
import type { ExportDeps } from "./deps.ts";
import { removeExportJob } from "./reconcile.ts";
import { hashOf, idOf } from "./secret.ts";
import { type Entry, endExport, isLive, type StoredExport } from "./state.ts";

/**
 * The export of a ticket; throws `not_found` for an unknown ticket and for another account's, and `forbidden` for an API
 * token without the right to the content or the server. The rights to the world are checked again: a ticket whose account
 * lost them is spent, and `forbidden` is thrown.
 */
export async function findByTicket(deps: ExportDeps, principal: Principal, ticket: string): Promise<Entry> {
  const entry = /^[0-9a-f]{64}$/.test(ticket) ? await deps.exports.get(idOf(ticket)) : undefined;
  const isTheirs = principal.kind === "account" && entry?.value.user_id === principal.user_id;
  if (!entry || !isTheirs || entry.value.ticket_hash !== hashOf(ticket)) {
    throw new Fault("not_found", { message: "Download not found; start it again." });
  }
  assertToken(principal, entry.value);
  if (!isLive(entry.value)) return entry;
  try {
    await assertStillTheirs(deps, principal, entry.value);
  } catch (error) {
    if (isFault(error) && error.fault === "forbidden") await spendTicket(deps, entry);
    throw error;
  }
  return entry;
}

// The export stays: somebody else of the account started it.
function assertToken(principal: Principal, { kind, server }: StoredExport): void {
  const right = kind === "file" || kind === "folder" ? "files.read" : "backups.download";
  if (carries(principal, right) && reaches(principal, server)) return;
  throw new Fault("forbidden", {
    message: `This API token does not have the right ${right} at the server ${server}.`,
  });
}

// Its Job locks the world.
async function spendTicket(
  deps: Pick<ExportDeps, "kube" | "settings" | "now" | "transferMetrics" | "exports">,
  { key, value }: Entry,
): Promise<void> {
  await endExport(deps, key, { state: "spent" });
  await removeExportJob(deps, value.job);
}

async function assertStillTheirs(
  deps: Pick<ExportDeps, "mesh" | "db">,
  principal: Principal,
  stored: StoredExport,
): Promise<void> {
  const { server, backup_id: id } = stored;
  const refusal = new Fault("forbidden", {
    message: "You may no longer download this; ask the owner of the server.",
  });
  const world = await describeWorld(deps, server).catch((error: unknown) => {
    throw isFault(error) && error.fault === "not_found" ? refusal : error;
  });
  const wanted = wantedOf(stored);
  if (!mayAccess(principal, world, wanted)) throw refusal;
  const scope = scopeAt(principal, world, wanted);
  if (id !== undefined && !(await findBackup(deps.db, { scope, id }))) throw refusal;
}

/** What was asked for when it was started; a file of a build that did not write its path down is closed to limited members. */
function wantedOf({ kind, path }: StoredExport): Wanted {
  if (kind === "backup") return { to: contracts.startBackup };
  if (kind === "world") return { to: contracts.startWorld };
  return { to: contracts.startFile, ...(path !== undefined && { reads: [path] }) };
}

/** Whether the account that started an export may still download this world. */
export function mayDownload(stored: StoredExport, world: WorldServer): boolean {
  const { user_id, is_staff = false } = stored;
  if (is_staff) return true;
  const account = { username: "", role: "user", staff: false, setup: false, session: "" } as const;
  return mayAccess({ kind: "account", user_id, ...account }, world, wantedOf(stored));
}
