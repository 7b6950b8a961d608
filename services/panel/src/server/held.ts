import { poll, useOperation } from "../api/query.ts";
import { useJobs } from "../jobs/use-jobs.ts";
import type { Words } from "../words/words.ts";
import { decideWorldWork, type WorldWork } from "./world-work.ts";

/** What works on the world of a server now; asked for only where the reader may know. */
export function useWorldWork(name: string, isAsked = true): WorldWork | undefined {
  const jobs = useJobs(name, isAsked);
  const { data } = useOperation("files.listOperations", { name }, { every: poll.list, enabled: isAsked });
  return decideWorldWork(jobs, data?.ops ?? []);
}

/** What work on a world is called. */
export function workWords({ backups, server }: Words, { what }: WorldWork): string {
  return what === "upload" || what === "unzip" ? server.fileWork[what] : backups.jobs[what];
}

/** Why what needs the world to itself is refused; undefined while nothing works on it. */
export function heldWords(words: Words, work: WorldWork | undefined): string | undefined {
  return work && words.reasons.busy(workWords(words, work));
}
