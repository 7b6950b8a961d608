/** Players on the busiest servers, and whether there may be more on those that were not read. Pure. */
export function countPlayers(
  busiest: readonly { playersOnline: number }[],
  total: number,
): { players: number; busy: number; isMore: boolean } {
  const busy = busiest.filter(({ playersOnline }) => playersOnline > 0);
  return {
    players: busy.reduce((sum, { playersOnline }) => sum + playersOnline, 0),
    busy: busy.length,
    isMore: busy.length === busiest.length && busiest.length < total,
  };
}
