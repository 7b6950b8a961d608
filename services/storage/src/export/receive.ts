import type { Handler } from "@svc/mesh";
import { type exports, isFault } from "@svc/proto";
import { markBackupCorrupt } from "../backup/store.ts";
import type { ExportDeps } from "./deps.ts";
import { attachment } from "./filename.ts";
import { mayDownload } from "./find.ts";
import { createRelay, type Relay } from "./relay.ts";
import { isToken, sealTicket } from "./secret.ts";
import { type Entry, endExport, transition } from "./state.ts";

/** storage.export.receive: parks the Job's body and records where the browser will fetch it. */
export const receive =
  (deps: ExportDeps): Handler<typeof exports.receive> =>
  async (context, { id, token, x_svc_export_length: length }) => {
    const entry = /^[0-9a-f]{16}$/.test(id) ? await deps.exports.get(id) : undefined;
    const isOpen = entry?.value.state === "pending" && isToken(token, entry.value.token_hash);
    if (!entry || !isOpen) throw context.fault("not_found");
    const { export_wait: waitMs, export_body: bodyMs, transfer_stall: stallMs } = deps.settings.storage;
    const stop = new AbortController();
    const relay = createRelay({
      signal: stop.signal,
      expected: entry.value.expected,
      length,
      waitMs,
      bodyMs,
      onWaited: async () => spendUnclaimed(deps, id),
    });
    const transfer = deps.byteTransfers.download({
      headers: headersOf(entry.value, length),
      source: relay.source,
      ttlMs: 2 * waitMs + stallMs,
    });
    if (!(await transition(deps, entry, { state: "ready", lane: sealTicket(token, transfer) }))) {
      throw context.fault("not_found");
    }
    context.reply.byteTransfer = deps.byteTransfers.upload({
      stallMs,
      receive: endAfter(deps, entry.value, { ...relay, stop }),
    });
    return null;
  };

function headersOf(entry: Entry["value"], length: number | undefined): Record<string, string> {
  const known = entry.expected?.size ?? length;
  return {
    "Content-Type": entry.content_type,
    "Content-Disposition": attachment(entry.filename),
    ...(known !== undefined && { "Content-Length": String(known) }),
  };
}

// True when the ticket was not claimed, and from now on cannot be.
async function spendUnclaimed(
  deps: Pick<ExportDeps, "settings" | "now" | "transferMetrics" | "exports">,
  id: string,
): Promise<boolean> {
  const entry = await deps.exports.get(id);
  if (entry?.value.state !== "ready") return entry?.value.state !== "streaming";
  return (await transition(deps, entry, { state: "spent" })) !== undefined;
}

function endAfter(
  deps: ExportDeps,
  stored: Entry["value"],
  relay: Relay & { stop: AbortController },
): Relay["receive"] {
  return async (...about) => {
    using rights = deps.rights.watch(stored.server, (world) => mayDownload(stored, world));
    rights.signal.addEventListener("abort", () => relay.stop.abort(), { once: true });
    try {
      return await relay.receive(...about);
    } catch (error) {
      if (isFault(error) && error.fault === "backup_corrupt") await markCorrupt(deps, stored).catch(() => {});
      throw error;
    } finally {
      await endExport(deps, stored.id, { state: "spent" }).catch(() => {});
    }
  };
}

// A backup that could not be downloaded must not be restored.
async function markCorrupt(
  deps: Pick<ExportDeps, "db" | "log" | "now">,
  { backup_id: id, server: server_name }: Entry["value"],
): Promise<void> {
  if (id === undefined) return;
  deps.log.error({ backup: id }, "archive does not match its record; download aborted");
  const message = "the digest did not match during a download";
  const about = { id, server_name, message, now: new Date(deps.now()) };
  await deps.db.transaction().execute((trx) => markBackupCorrupt(trx, about));
}
