import { eventFrame, type Handler } from "@svc/mesh";
import type { builds } from "@svc/proto";
import type { BuildsDb } from "../database.ts";
import type { BuildDeps } from "./deps.ts";
import { decodeLog, type LogEntry } from "./log/stored.ts";
import { endOf, ticketOf } from "./log/streams.ts";
import type { BuildRow } from "./row.ts";
import { findBuild } from "./store.ts";

type Deps = Pick<BuildDeps, "db"> & { mesh: Pick<BuildDeps["mesh"], "byteTransfers"> };

const idShape = /^[0-9a-f]{32}$/;

/** builds.build.watch-log: live while the build has no end, then as it was stored; nothing for who has seen the end. */
export function createWatchLog({ db, mesh }: Deps): Handler<typeof builds.watchLog> {
  return async (context, { id, last_event_id }) => {
    if (!idShape.test(id)) throw context.fault("bad_id");
    const row = await findBuild(db, id);
    if (!row) throw context.fault("not_found", { message: "There is no build with this id." });
    if (!row.finished_at) {
      context.reply.stream = ticketOf(id);
      return null;
    }
    if (last_event_id === "end") return null;
    const since = /^\d{1,12}$/.test(last_event_id ?? "") ? Number(last_event_id) : 0;
    const entries = await storedLog(db, row);
    context.reply.byteTransfer = mesh.byteTransfers.download({
      headers: { "content-type": "text/event-stream" },
      source: () => frames(entries.filter(({ at }) => at >= since)),
    });
    return null;
  };
}

async function storedLog(db: BuildsDb, row: BuildRow): Promise<LogEntry[]> {
  const stored = await db
    .selectFrom("image_build_logs")
    .select("gz")
    .where("build_id", "=", row.id)
    .executeTakeFirst();
  const at = Math.floor((row.finished_at?.getTime() ?? 0) / 1_000);
  const end = { at: Math.max(at, Date.now() / 1_000), event: "end", line: endOf(row.status) };
  return [...(stored ? await decodeLog(stored.gz) : []), end];
}

const groupBytes = 65_536;

async function* frames(entries: readonly LogEntry[]): AsyncGenerator<Buffer> {
  let group: Buffer[] = [];
  let bytes = 0;
  for (const { at, line, event } of entries) {
    const frame = eventFrame({ atSeconds: Math.floor(at), line: Buffer.from(line), event });
    group.push(frame);
    bytes += frame.length;
    if (bytes < groupBytes) continue;
    yield Buffer.concat(group);
    group = [];
    bytes = 0;
  }
  yield Buffer.concat(group);
}
