import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { poll, useOperation } from "../api/query.ts";
import { type Job, runningJob } from "./job.ts";

/** The Jobs of a server's world, newest first; when one ends, what it changed is read again. */
export function useJobs(name: string, isAsked = true): readonly Job[] {
  const client = useQueryClient();
  const { data } = useOperation(
    "backups.listJobs",
    { name },
    { every: (jobs) => (runningJob(jobs?.jobs ?? []) ? poll.job : poll.status), enabled: isAsked },
  );
  const running = runningJob(data?.jobs ?? [])?.name;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another Job runs, or none does any more
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ["backups.list"] });
  }, [client, running]);
  return data?.jobs ?? [];
}
