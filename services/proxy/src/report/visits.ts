// How long players stay on servers (docs/reference/players.md#visits). The proxy measures; what the service does not answer for is
// reported again, so that neither a repeat nor an outage changes what is counted.

import { knownPlayers } from "@svc/proto";

type Stay = { uuid: string; name: string; server: string; number: number; since: number };
type Ended = Stay & { until: number };
type Visitor = { readonly id: string; readonly uuid: string; readonly name: string };

export type Visits = {
  began: (visitor: Visitor, server: string) => void;
  /** Ends the visit of this session, if there is one. */
  ended: (visitor: Visitor) => void;
  /** Whether there is something to report. */
  isNeeded: () => boolean;
  /** Reports what lasts and what ended; `send` resolves with whether the report was taken. */
  report: (send: (visits: knownPlayers.Visit[]) => Promise<boolean>) => Promise<void>;
};

/** Ended visits that wait for an answer; the oldest give way. */
const mostEnded = 20_000;

/** `clock`: milliseconds that never jump. */
export function createVisits(clock: () => number, onDropped: (count: number) => void = () => {}): Visits {
  const current = new Map<string, Stay>();
  let ended: Ended[] = [];
  let number = 0;
  const drop = (keep: (one: Ended, index: number) => boolean) => {
    const kept = ended.filter(keep);
    if (kept.length < ended.length) onDropped(ended.length - kept.length);
    ended = kept;
  };
  const end = ({ id }: Visitor) => {
    const stay = current.get(id);
    if (!stay) return;
    current.delete(id);
    ended.push({ ...stay, until: clock() });
    if (ended.length > mostEnded) drop((_one, index) => index >= ended.length - mostEnded);
  };
  return {
    began: (visitor, server) => {
      end(visitor);
      number += 1;
      const { uuid, name } = visitor;
      current.set(visitor.id, { uuid, name, server, number, since: clock() });
    },
    ended: end,
    isNeeded: () => current.size > 0 || ended.length > 0,
    report: async (send) => {
      drop(({ until }) => clock() - until < knownPlayers.oldestEndMs);
      const [stays, ends] = [[...current.values()], [...ended]];
      const now = clock();
      // Ended ones first: they wait for an answer, and the others grow.
      const all = [...ends.map((one) => toVisit(one, now)), ...stays.map((one) => toVisit(one, now))];
      const sent = new Set<number>();
      for (let from = 0; from < all.length; from += knownPlayers.maxVisitsReported) {
        const part = all.slice(from, from + knownPlayers.maxVisitsReported);
        if (!(await send(part))) break;
        for (const visit of part) if (visit.ended_ms !== undefined) sent.add(visit.number);
      }
      ended = ended.filter((one) => !sent.has(one.number));
    },
  };
}

function toVisit(stay: Stay | Ended, now: number): knownPlayers.Visit {
  const { uuid: mc_uuid, name, server, number, since } = stay;
  const about = { mc_uuid, name, server, number };
  if (!("until" in stay)) return { ...about, ms: Math.floor(now - since) };
  const { until } = stay;
  return { ...about, ms: Math.floor(until - since), ended_ms: Math.ceil(now - until) };
}
