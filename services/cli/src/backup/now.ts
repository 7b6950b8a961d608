// `svc backup-now`: all or the named servers, one after the other, stopped ones first.

import { userInfo } from "node:os";
import type { Mesh } from "@svc/mesh";
import { backupKeeping, backups, isFault } from "@svc/proto";
import { hint } from "../hint.ts";
import { type Outcome, planned, table } from "../output.ts";
import { poll, withMesh } from "./with-mesh.ts";

type NowOptions = { data: string; yes?: boolean; stop?: boolean };

const stopWithinMs = 600_000;
const words = {
  back_up: "back up",
  stop_then_back_up: "stop, back up, start again",
  skip_running: "skip: running (add --stop)",
  skip_no_volume: "skip: no world yet",
  skip_unknown: "skip: server not found",
} as const;

type Done = { name: string; result: string; isGood: boolean };

export async function backupNow(names: readonly string[], options: NowOptions): Promise<Outcome> {
  const { data, yes = false, stop = false } = options;
  return withMesh(data, async (mesh) => {
    const about = { may_stop: stop, ...(names.length > 0 && { names: [...names] }) };
    const { servers } = await mesh.call(backupKeeping.planBackups, about);
    const plan = table([
      ["SERVER", "PLAN"],
      ...servers.map(({ name, action }): string[] => [name, words[action]]),
    ]);
    const unknown = servers.filter(({ action }) => action === "skip_unknown").map((row) => row.name);
    if (!yes && unknown.length > 0) return { ...planned(servers, plan), exitCode: 1 };
    if (!yes) return planned(servers, plan);
    const done: Done[] = [];
    const wakeHint = (name: string) => hint(data, `server wake ${name}`);
    const interrupts = watchInterrupts(wakeHint);
    for (const { name, action } of servers) {
      if (interrupts.isAsked()) break;
      const isWork = action === "back_up" || action === "stop_then_back_up";
      const isWanted = names.length > 0;
      // A named server must succeed; without names, skipped servers are not failures.
      done.push(
        isWork
          ? await backUp(mesh, name, { mayStop: action === "stop_then_back_up", interrupts, wakeHint })
          : { name, result: words[action], isGood: !isWanted },
      );
      process.stderr.write(`${name}: ${done.at(-1)?.result}\n`);
    }
    interrupts.close();
    const isGood = done.every((one) => one.isGood) && !interrupts.isAsked();
    const text = table([["SERVER", "RESULT"], ...done.map(({ name, result }): string[] => [name, result])]);
    return { json: done, text, exitCode: isGood ? 0 : 1 };
  });
}

type Work = { mayStop: boolean; interrupts: Interrupts; wakeHint: (name: string) => string };

async function backUp(mesh: Mesh, name: string, { mayStop, interrupts, wakeHint }: Work): Promise<Done> {
  const endAt = Date.now() + stopWithinMs;
  const input = { name, may_stop: mayStop, os_user: userInfo().username };
  if (mayStop) interrupts.stopped(name);
  try {
    const job = await poll(async () => {
      if (interrupts.isAsked()) return "";
      const answer = await mesh.call(backupKeeping.backUpNow, input);
      if (answer.state === "started") return answer.job;
      return Date.now() > endAt ? "" : undefined;
    });
    if (job === "" && interrupts.isAsked())
      return { name, result: "not backed up: interrupted", isGood: false };
    if (job === "") return { name, result: "did not stop within 10 minutes", isGood: false };
    const end = await poll(async () => {
      const run = await mesh.call(backups.readBackupRun, { job });
      return run.state === "running" ? undefined : run;
    });
    const isGood = end.state === "succeeded";
    return { name, result: isGood ? "backed up" : `failed: ${end.message ?? "unknown"}`, isGood };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { name, result: error.message, isGood: false };
  } finally {
    if (mayStop) await startAgain(mesh, name, wakeHint);
    interrupts.stopped(undefined);
  }
}

async function startAgain(mesh: Mesh, name: string, wakeHint: Work["wakeHint"]): Promise<void> {
  await mesh.call(backupKeeping.resumeAfterBackup, { name }).catch((error: Error) => {
    process.stderr.write(`${name}: could not be started again (${error.message}); ${wakeHint(name)}\n`);
  });
}

type Interrupts = {
  isAsked: () => boolean;
  /** Sets the server that is currently stopped for its backup. */
  stopped: (name: string | undefined) => void;
  close: () => void;
};

/** The first interrupt ends the work after the current server, which is started again; the second ends it at once. */
function watchInterrupts(wakeHint: (name: string) => string): Interrupts {
  const signals = ["SIGINT", "SIGTERM"] as const;
  let isAsked = false;
  let current: string | undefined;
  const onSignal = () => {
    if (isAsked) {
      if (current) process.stderr.write(`${current} stays stopped: ${wakeHint(current)}\n`);
      process.exit(130);
    }
    isAsked = true;
    const first = current ? `${current} is started again first; ` : "";
    process.stderr.write(`Interrupted: ${first}once more to leave at once\n`);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    isAsked: () => isAsked,
    stopped: (name) => {
      current = name;
    },
    close: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
