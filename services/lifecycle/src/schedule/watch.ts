// Looks for what tasks with a trigger wait for, at every tick (docs/reference/schedules.md#triggers): who is on their servers, and the
// crashes and starts that lifecycle itself has noted.

import { playersOf } from "./chain.ts";
import type { ScheduleDeps } from "./deps.ts";
import { readServer } from "./observe.ts";
import type { Watched } from "./presence-store.ts";
import { decidePresence } from "./trigger.ts";

/** Notes what has happened since the last look. What fails is looked at again with the next tick. */
export async function watchTriggers(deps: ScheduleDeps): Promise<void> {
  const attempt = (work: Promise<void>, what: string) =>
    work.catch((error: Error) => deps.log.warn({ error: error.message }, `${what} failed; retrying`));
  await attempt(watchPlayers(deps), "looking for players that tasks wait for");
  await attempt(watchNoted(deps), "looking for crashes and starts that tasks wait for");
}

async function watchPlayers(deps: ScheduleDeps): Promise<void> {
  const now = new Date(deps.now());
  // Of what the cluster does not tell at present nothing is known, and so it was not looked at.
  if (!deps.servers.isLive()) return;
  const all = await deps.triggers.watched();
  for (const watched of all) {
    const plan = planOf(deps, watched, { now, server: deps.servers.get(watched.server) });
    if (plan.kind !== "same") await look(deps, watched, now);
  }
  const servers = all.map(({ server }) => server);
  if (servers.length > 0) await deps.triggers.looked(servers, now);
}

// From the cluster itself: a copy may be older than what another replica has noted.
async function look(deps: ScheduleDeps, watched: Watched, now: Date): Promise<void> {
  const { server } = watched;
  const plan = planOf(deps, watched, { now, server: await readServer(deps, server) });
  if (plan.kind === "first") await deps.triggers.begin(server, { isEmpty: plan.isEmpty, now });
  if (plan.kind !== "changed") return;
  const { isEmpty, happening, isLate } = plan;
  const isNoted = await deps.triggers.change(watched, { server, happening, isLate, isEmpty, now });
  if (isNoted) deps.log.info({ server, event: happening.event }, "players came or went");
}

function planOf(
  { settings }: ScheduleDeps,
  { presence }: Watched,
  { now, server }: { now: Date; server: Parameters<typeof playersOf>[0] },
) {
  const lateMs = settings.schedule_missed_after;
  return decidePresence(presence, { count: playersOf(server), now: now.getTime(), lateMs });
}

async function watchNoted({ triggers, now }: ScheduleDeps): Promise<void> {
  const happened = await triggers.unnoted(new Date(now()));
  if (happened.length > 0) await triggers.note(happened);
}
