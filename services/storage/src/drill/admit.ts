// Whether another drill may start: each needs a volume and boots a server. Pure.

type Started = { server: string; at: Date; isUnderWay: boolean };

const busySeconds = 60;

/** Seconds to wait; undefined when it may start now. `recent`: those under way, and the newest of the server. */
export function decideDrillWait(
  recent: readonly Started[],
  about: { server: string; isStaff: boolean; now: number },
  limits: { atOnce: number; cooldownMs: number },
): number | undefined {
  const underWay = recent.filter(({ isUnderWay }) => isUnderWay);
  const ofServer = recent.filter(({ server }) => server === about.server);
  if (ofServer.some(({ isUnderWay }) => isUnderWay)) return busySeconds;
  if (about.isStaff) return undefined;
  if (underWay.length >= limits.atOnce) return busySeconds;
  const newest = Math.max(0, ...ofServer.map(({ at }) => at.getTime()));
  const leftMs = newest + limits.cooldownMs - about.now;
  return leftMs > 0 ? Math.ceil(leftMs / 1_000) : undefined;
}
