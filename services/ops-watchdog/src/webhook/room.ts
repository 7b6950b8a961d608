// How many attempts may run at once in one process (docs/reference/webhooks.md#attempts). Pure.

export const most = { all: 32, ofHost: 8, ofOwner: 4 } as const;

export type Running = { host: string; owner: string };
export type Room = { free: number; fullHosts: string[]; fullOwners: string[] };

/** What may be begun beside what runs: nobody's slow receiver takes the places of others. */
export function findRoom(running: readonly Running[]): Room {
  const full = (key: keyof Running, limit: number) => {
    const counts = new Map<string, number>();
    for (const one of running) counts.set(one[key], (counts.get(one[key]) ?? 0) + 1);
    return [...counts].flatMap(([name, count]) => (count >= limit ? [name] : []));
  };
  return {
    free: Math.max(0, most.all - running.length),
    fullHosts: full("host", most.ofHost),
    fullOwners: full("owner", most.ofOwner),
  };
}
