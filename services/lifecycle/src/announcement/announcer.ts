// What the replica that leads does with announcements: it writes what people are shown into the views, and tells the
// players of running servers (docs/reference/announcements.md#game).

import type { Mesh, ViewWriter } from "@svc/mesh";
import { announcements as contracts } from "@svc/proto";
import { createSemaphore } from "@svc/service/semaphore";
import type { Logger } from "@svc/telemetry";
import { hasRcon, type Server, systemRoleOf } from "../cluster/resource.ts";
import type { ServerRcon } from "../console/rcon.ts";
import { announcementCommands } from "./messages.ts";
import { type AnnouncementRow, toAnnouncement } from "./row.ts";
import { isShown, type Step, stepAt } from "./rules.ts";
import type { AnnouncementStore } from "./store.ts";

export type AnnouncerDeps = {
  mesh: Pick<Mesh, "writeView">;
  announcements: Pick<AnnouncementStore, "open" | "delivered" | "claimDelivery" | "sweep">;
  servers: { list: () => readonly Server[] };
  rcon: Pick<ServerRcon, "run">;
  /** Players are not told that something begins when it began longer ago. */
  lateMs: number;
  /** How long an announcement that is over is kept. */
  keepMs: number;
  /** Servers whose players are told at the same time. */
  concurrency: number;
  log: Logger;
  now: () => number;
};

type Announcer = {
  /** One pass over all announcements; `signal` ends it before the next server. */
  pass: (signal?: AbortSignal) => Promise<void>;
  /** Stops vouching for the views, for a replica that leads no longer. */
  rest: () => Promise<void>;
};

const sweepMs = 60 * 60_000;

export function createAnnouncer(deps: AnnouncerDeps): Announcer {
  const { announcements, now } = deps;
  const views = createViews(deps);
  let sweptAt = Number.NEGATIVE_INFINITY;
  return {
    pass: async (signal) => {
      const at = now();
      const open = await announcements.open(new Date(at));
      // Players are told although the views cannot be written just now, and the other way round.
      const results = await Promise.allSettled([views.write(open, at), tellAll(deps, open, { at, signal })]);
      if (at - sweptAt >= sweepMs) {
        await announcements.sweep(new Date(at - deps.keepMs));
        sweptAt = at;
      }
      for (const result of results) if (result.status === "rejected") throw result.reason;
    },
    rest: views.close,
  };
}

type Writer = ViewWriter<contracts.Announcement>;

function createViews({ mesh }: AnnouncerDeps) {
  let writers: { shown: Writer; toAll: Writer } | undefined;
  let isWritten = false;
  const isCurrent = () => isWritten;
  return {
    write: async (open: readonly AnnouncementRow[], at: number) => {
      isWritten = false;
      writers ??= {
        shown: await mesh.writeView(contracts.shown, { isCurrent }),
        toAll: await mesh.writeView(contracts.shownToAll, { isCurrent }),
      };
      const shown = open.filter((row) => isShown(row, at)).map(toAnnouncement);
      const entriesOf = (some: typeof shown) => new Map(some.map((one) => [one.id, one]));
      await writers.shown.replace(entriesOf(shown));
      await writers.toAll.replace(entriesOf(shown.filter((one) => one.public)));
      isWritten = true;
    },
    close: async () => {
      const old = writers;
      writers = undefined;
      isWritten = false;
      await Promise.all([old?.shown.close(), old?.toAll.close()]);
    },
  };
}

/** Tells the players of every server that has some; those of an empty one are told by the proxy as they come. */
async function tellAll(
  deps: AnnouncerDeps,
  open: readonly AnnouncementRow[],
  { at, signal }: { at: number; signal: AbortSignal | undefined },
): Promise<void> {
  const { announcements, servers, concurrency, lateMs } = deps;
  // A step stays due for up to twenty minutes of passes, so whom it has reached is read once for all servers.
  const steps = open.flatMap((row) => {
    const step = stepAt(row, at, lateMs);
    return step ? [announcements.delivered(row.id, step).then((told) => ({ row, step, told }))] : [];
  });
  if (steps.length === 0) return;
  const due = await Promise.all(steps);
  const semaphore = createSemaphore(concurrency);
  await Promise.all(
    servers
      .list()
      .filter(hasListeners)
      .map((server) =>
        semaphore.run(async () => {
          for (const { row, step, told } of due)
            if (!signal?.aborted && !told.has(server.metadata.name))
              await tellOne(deps, server, { row, step });
        }),
      ),
  );
}

function hasListeners(server: Server): boolean {
  const { status = {} } = server;
  const isUp = status.phase === "Running" && status.ready === true;
  return isUp && hasRcon(server) && systemRoleOf(server) === "" && (status.players?.online ?? 0) > 0;
}

// Recorded before it is sent: one replica of all tells them, and what is lost is not repeated.
async function tellOne(
  { announcements, rcon, log }: AnnouncerDeps,
  server: Server,
  { row, step }: { row: AnnouncementRow; step: Step },
): Promise<void> {
  const { name } = server.metadata;
  if (!(await announcements.claimDelivery(row.id, name, step))) return;
  for (const command of announcementCommands(row, step)) {
    try {
      await rcon.run(server, command);
    } catch (error) {
      const about = { server: name, announcement: row.id, error: (error as Error).message };
      return log.info(about, "telling players of an announcement failed");
    }
  }
}
