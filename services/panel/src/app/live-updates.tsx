import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { followChanges, live } from "../api/live-updates.ts";
import type { Output } from "../api/operations.ts";
import { keyOf, readInto } from "../api/query.ts";
import { type EndedJob, endingsOf } from "../jobs/job-endings.ts";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

const jobs = "backups.listJobs";

/** Keeps what is shown current while somebody is signed in, and tells of Jobs that ended out of sight. */
export function LiveUpdates() {
  const client = useQueryClient();
  const tell = useRef<(server: string, job: EndedJob) => void>(() => undefined);
  tell.current = useJobToast();
  useEffect(() => followChanges(client), [client]);
  useEffect(() => {
    const ended = new Map<string, ReadonlySet<string>>();
    const isOwned = (server: string) => {
      const lists = [
        ...client.getQueriesData<Output<"ownership.listMine">>({ queryKey: ["ownership.listMine"] }),
        ...client.getQueriesData<Output<"servers.fleet">>({ queryKey: ["servers.fleet"] }),
      ];
      return lists.some(([, list]) => list?.items.some(({ name, owned }) => owned && name === server));
    };
    const stopListening = live.onChanges((notices) => {
      for (const { type, server } of notices) {
        if (type !== "job") continue;
        const query = client.getQueryCache().find({ queryKey: keyOf(jobs, { name: server }) });
        // What is on screen is read again anyway.
        if (query?.isActive() || !(query || isOwned(server))) continue;
        readInto(client, jobs, { name: server }).catch(() => undefined);
      }
    });
    const stopWatching = client.getQueryCache().subscribe(({ type, query }) => {
      if (type !== "updated" || query.queryKey[0] !== jobs) return;
      const data = query.state.data as Output<typeof jobs> | undefined;
      if (!data) return;
      const found = endingsOf(ended.get(data.server), data.jobs);
      ended.set(data.server, found.ended);
      for (const job of found.news) tell.current(data.server, job);
    });
    return () => {
      stopListening();
      stopWatching();
    };
  }, [client]);
  return null;
}

/** On the page of the Job its end is there to be seen. */
function useJobToast(): (server: string, job: EndedJob) => void {
  const { backups } = useWords();
  const toast = useToast();
  const { pathname } = useLocation();
  return (server, { kind, state }) => {
    if (pathname === `/servers/${server}/backups`) return;
    const text = state === "failed" ? backups.jobFailed[kind] : backups.jobsDone[kind];
    toast({ kind: state === "failed" ? "failed" : "done", text: backups.jobOf(isolate(server), text) });
  };
}
