import { Archive } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { ApiError } from "../api/error.ts";
import { useAction } from "../api/query.ts";
import type { Job } from "../jobs/job.ts";
import { isAtRest } from "../server/row.ts";
import type { ServerStatus } from "../server/use-server.ts";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords, type Words } from "../words/words.ts";
import { type BackupRun, nextStep } from "./backup-run.ts";

type MakeBackupProps = {
  name: string;
  phase: ServerStatus["phase"];
  jobs: readonly Job[];
  /** Why the world is not free. */
  held: string | undefined;
};

/** Backs the world up; a server that is up is stopped first, and started again if the person wants it. */
export function MakeBackup({ name, phase, jobs, held }: MakeBackupProps) {
  const words = useWords();
  const { backups } = words;
  const [isAsking, setAsking] = useState(false);
  const [startsAgain, setStartsAgain] = useState(true);
  const isAsleep = isAtRest(phase);
  // What has failed to start would only fail again.
  const mayStartAgain = phase !== "Failed";
  const { run, make, stopFirst, isPending } = useBackupRun({ name, isAsleep, jobs });
  const note = noteOf(words, run);
  return (
    <>
      <Button
        kind="primary"
        icon={<Archive size={16} aria-hidden />}
        isPending={isPending || run !== undefined}
        whyNot={held}
        onPress={() => (isAsleep ? make() : setAsking(true))}
      >
        {backups.make}
      </Button>
      {note !== undefined && <span role="status">{note}</span>}
      <Confirm
        title={backups.stopFirstTitle(isolate(name))}
        action={backups.stopFirst}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => stopFirst(mayStartAgain && startsAgain)}
      >
        <p>{backups.makeHelp}</p>
        <p>{backups.stopFirstHelp}</p>
        {mayStartAgain && (
          <Checkbox label={backups.startAgain} isChecked={startsAgain} onChange={setStartsAgain} />
        )}
      </Confirm>
    </>
  );
}

function noteOf({ backups }: Words, run: BackupRun | undefined): string | undefined {
  if (run?.stage === "stopping") return backups.waitingForSleep;
  return run?.startsAgain ? backups.startsAgain : undefined;
}

/**
 * What passes by itself: the pod is gone a moment after the phase says so, the world is free a moment after the backup, and
 * nobody wakes a server twice within half a minute.
 */
const passing: ReadonlySet<string> = new Set(["not_stopped", "maintenance_in_progress", "cooldown"]);
const retryMs = 2_000;
const mostTries = 20;

/** The steps of a backup whose server is awake; they end with the page. */
function useBackupRun(about: { name: string; isAsleep: boolean; jobs: readonly Job[] }) {
  const { name, isAsleep, jobs } = about;
  const words = useWords();
  const toast = useToast();
  const [run, setRun] = useState<BackupRun>();
  const tries = useRef(0);
  const create = useAction("backups.create", ["backups.listJobs"]);
  const stop = useAction("servers.stop", ["servers.viewStatus"]);
  const wake = useAction("servers.wake", ["servers.viewStatus"]);
  const onError = (error: ApiError) => {
    setRun(undefined);
    toast(failedToast(words, error));
  };
  const make = () => create.mutate({ name }, { onError });
  /** Tries the same step again where the refusal passes. */
  const orAgain = (stage: BackupRun["stage"]) => (error: ApiError) => {
    if (!passing.has(error.code) || tries.current >= mostTries) return onError(error);
    tries.current++;
    const waitMs = Math.max(retryMs, (error.retryAfterSeconds ?? 0) * 1_000);
    setTimeout(() => setRun((now) => now && { ...now, stage }), waitMs);
  };
  const step = run ? nextStep(run, { isAsleep, jobs }) : "wait";
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step is taken once
  useEffect(() => {
    if (!run || step === "wait") return;
    if (step === "end") return setRun(undefined);
    setRun({ ...run, stage: step === "start" ? "starting" : "asking" });
    if (step === "start") {
      wake.mutate({ name }, { onSuccess: () => setRun(undefined), onError: orAgain("backing-up") });
      return;
    }
    const known = jobs.map((job) => job.name);
    const onSuccess = () => setRun((now) => now && { ...now, stage: "backing-up", known });
    create.mutate({ name }, { onSuccess, onError: orAgain("stopping") });
  }, [step]);
  const stopFirst = (startsAgain: boolean) => {
    tries.current = 0;
    setRun({ stage: "stopping", startsAgain, known: [] });
    stop.mutate({ name }, { onError });
  };
  return { run, make, stopFirst, isPending: create.isPending || stop.isPending };
}
