// What a reported visit adds to what a server knows of a player (docs/reference/players.md#visits). Pure.
//
// | the report                                                | then                                                  |
// |-----------------------------------------------------------|-------------------------------------------------------|
// | is of the visit that was counted last                     | only what is more than counted is added               |
// | is of an earlier visit of the same proxy                  | nothing: that visit was counted when the later one came|
// | is of another visit                                       | is added as far as it lies after what was counted     |
// | is of what the player had erased, and no longer          | nothing                                               |
// | lies before the player was forgotten, or the owner came   | nothing is added                                      |
//
// Time is never counted twice, in whatever order and however often reports arrive, because the counted ranges of one player
// at one server do not overlap; and none is invented, because a visit never adds more than its proxy measured.

const longestCountedMs = 7 * 24 * 60 * 60_000;

/** `lasted`: milliseconds; `end`: when it ended or was reported, unix milliseconds. */
export type ReportedVisit = { proxy: string; number: number; name: string; lasted: number; end: number };

/** Times in unix milliseconds. */
export type Known = {
  name: string;
  firstSeen: number;
  lastSeen: number;
  playedMs: number;
  visits: number;
  visit: { proxy: string; number: number; ms: number };
};

type Bounds = {
  /** Nothing from before it may be known, unix milliseconds. */
  notBefore: number;
  /** Of the visit's proxy: the last visit that the player had erased, and how much of it had been counted. */
  erased?: { number: number; ms: number } | undefined;
};

/** Undefined when nothing changes. */
export function countVisit(
  known: Known | undefined,
  visit: ReportedVisit,
  { notBefore, erased }: Bounds,
): Known | undefined {
  const { proxy, number, name, end } = visit;
  if (erased && number < erased.number) return undefined;
  const erasedMs = erased?.number === number ? erased.ms : 0;
  const lasted = Math.min(visit.lasted - erasedMs, longestCountedMs);
  if (lasted < 0 || (erased?.number === number && lasted === 0)) return undefined;
  const counted = { proxy, number, ms: visit.lasted };
  if (!known) {
    const ms = Math.min(lasted, end - notBefore);
    if (ms < 0 || (ms === 0 && visit.lasted > 0)) return undefined;
    return { name, firstSeen: end - ms, lastSeen: end, playedMs: ms, visits: 1, visit: counted };
  }
  const last = known.visit;
  if (last.proxy === proxy && number < last.number) return undefined;
  const isSame = last.proxy === proxy && number === last.number;
  if (isSame) {
    const more = Math.min(visit.lasted - last.ms, longestCountedMs);
    if (more <= 0) return undefined;
    const lastSeen = Math.max(known.lastSeen, end);
    return { ...known, name, lastSeen, playedMs: known.playedMs + more, visit: counted };
  }
  const more = Math.min(lasted, end - Math.max(known.lastSeen, notBefore));
  if (more < 0 || (more === 0 && visit.lasted > 0)) return undefined;
  return {
    ...known,
    ...{ name, lastSeen: end, playedMs: known.playedMs + more },
    ...{ visits: known.visits + 1, visit: counted },
  };
}
