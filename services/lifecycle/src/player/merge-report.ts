// What a report of a proxy means: which of its sessions are new, and which have moved to another proxy. Pure.
//
// | a player of this proxy                                   | then                                    |
// |----------------------------------------------------------|-----------------------------------------|
// | the same session as in its last report                   | keeps the time it was first seen        |
// | a new session                                            | is first seen now                       |
// | also on another proxy, there first seen later            | is elsewhere                            |
// | first seen at the same time on both                      | stays on the proxy that sorts first     |

import type { ProxyPlayer } from "../database/schema.ts";

export type Report = { proxy: string; players: readonly Omit<ProxyPlayer, "since">[] };
type Other = { proxy: string; players: readonly ProxyPlayer[] };
type Merged = { players: ProxyPlayer[]; elsewhere: string[] };

export function mergeReport(
  { proxy, players }: Report,
  before: readonly ProxyPlayer[],
  { others, now }: { others: readonly Other[]; now: string },
): Merged {
  const known = new Map(before.map((player) => [player.session, player]));
  const newest = new Map<string, { since: string; proxy: string }>();
  for (const other of others) {
    for (const { mc_uuid, since } of other.players) {
      const seen = newest.get(mc_uuid);
      if (!seen || isLater({ since, proxy: other.proxy }, seen))
        newest.set(mc_uuid, { since, proxy: other.proxy });
    }
  }
  const merged = players.map((player) => ({ ...player, since: known.get(player.session)?.since ?? now }));
  const elsewhere = merged.filter(({ mc_uuid, since }) => {
    const rival = newest.get(mc_uuid);
    return rival !== undefined && isLater(rival, { since, proxy });
  });
  return { players: merged, elsewhere: elsewhere.map(({ session }) => session) };
}

type Sighting = { since: string; proxy: string };

function isLater(one: Sighting, other: Sighting): boolean {
  return one.since === other.since ? one.proxy < other.proxy : one.since > other.since;
}
