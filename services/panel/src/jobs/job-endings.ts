import type { Job } from "./job.ts";

export type EndedJob = Pick<Job, "kind" | "state">;

/** Jobs that have ended since the last look, and the names of all that have ended. The first look is no news. Pure. */
export function endingsOf(
  before: ReadonlySet<string> | undefined,
  jobs: readonly Job[],
): { news: EndedJob[]; ended: ReadonlySet<string> } {
  const ended = jobs.filter(({ state }) => state !== "running");
  const news = before ? ended.filter(({ name }) => !before.has(name)) : [];
  return { news, ended: new Set(ended.map(({ name }) => name)) };
}
