// biome-ignore lint/style/noProcessEnv: a switch of the tests, not of the service
const isWhole = process.env["SVC_KILL_POINTS"] === "all";

/**
 * Oldest, newest and two between: what the tests run on by default, as each further version takes seconds. The whole
 * list with `SVC_KILL_POINTS=all`, as everywhere.
 */
export function sampleOf<T>(versions: readonly T[]): readonly T[] {
  if (isWhole) return versions;
  const last = versions.length - 1;
  const places = new Set([0, Math.round(last / 3), Math.round((last * 2) / 3), last]);
  return versions.filter((_, place) => places.has(place));
}
