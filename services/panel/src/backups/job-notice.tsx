import type { ReactNode } from "react";
import { type Job, runningJob } from "../jobs/job.ts";
import { Notice } from "../ui/notice.tsx";
import { useNow } from "../ui/now.ts";
import { formatClock } from "../words/format.ts";
import { useWords } from "../words/words.ts";

const recentMs = 10 * 60_000;

type JobNoticeProps = {
  jobs: readonly Job[];
  /** The way back after a restore: puts back the world as it was before it; none where it was not backed up. */
  back: ReactNode;
};

/** What works on the world, or how the last work on it ended. */
export function JobNotice({ jobs, back }: JobNoticeProps) {
  const job = runningJob(jobs);
  if (job) return <Running job={job} />;
  const last = jobs[0];
  const isRecent = last?.finished_at && Date.now() - Date.parse(last.finished_at) < recentMs;
  return isRecent ? <Ended job={last} back={back} /> : null;
}

function Running({ job }: { job: Job }) {
  const { backups } = useWords();
  const now = useNow(1_000);
  const { kind, started_at, then_restore } = job;
  const seconds = started_at === undefined ? 0 : (now - Date.parse(started_at)) / 1_000;
  return (
    <Notice kind="waiting">
      <strong>{backups.jobs[kind]}</strong>
      <p>{backups.jobRuns(formatClock(seconds))}</p>
      {then_restore === "pending" && <p>{backups.thenRestore}</p>}
    </Notice>
  );
}

function Ended({ job, back }: { job: Job; back: ReactNode }) {
  const { backups } = useWords();
  const { kind, state, then_restore, then_restore_reason: reason } = job;
  if (then_restore === "abandoned") {
    return (
      <Notice kind="failed">
        <strong>{backups.abandoned}</strong>
        {reason && <p>{backups.abandonedReasons[reason]}</p>}
      </Notice>
    );
  }
  if (state === "failed") return <Notice kind="failed">{backups.jobFailed[kind]}</Notice>;
  return (
    <Notice kind="done" actions={kind === "restore" && back}>
      {backups.jobsDone[kind]}
    </Notice>
  );
}
