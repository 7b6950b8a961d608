// `svc backup-now`: every server or those that are named, one after the other, the stopped ones first.

import { userInfo } from "node:os";
import type { Mesh } from "@svc/mesh";
import { backups, isFault } from "@svc/proto";
import { type Outcome, table } from "../output.ts";
import { planned, poll, withMesh } from "./ask.ts";

export type NowOptions = { data: string; yes?: boolean; stop?: boolean };

const stopWithinMs = 600_000;
const words = {
  back_up: "back up",
  stop_then_back_up: "stop, back up, start again",
  skip_running: "skip: it runs (add --stop)",
  skip_no_volume: "skip: it has no world yet",
  skip_unknown: "skip: there is no such server",
} as const;

type Done = { name: string; result: string; isGood: boolean };

export async function backupNow(names: readonly string[], options: NowOptions): Promise<Outcome> {
  const { data, yes = false, stop = false } = options;
  return withMesh(data, async (mesh) => {
    const about = { may_stop: stop, ...(names.length > 0 && { names: [...names] }) };
    const { servers } = await mesh.call(backups.planBackups, about);
    const plan = table([
      ["SERVER", "PLAN"],
      ...servers.map(({ name, action }): string[] => [name, words[action]]),
    ]);
    if (!yes) return planned(servers, plan);
    const done: Done[] = [];
    for (const { name, action } of servers) {
      const isWork = action === "back_up" || action === "stop_then_back_up";
      const isWanted = names.length > 0;
      // Who names a server wants it; who names none takes what can be had.
      done.push(
        isWork
          ? await backUp(mesh, name, action === "stop_then_back_up")
          : { name, result: words[action], isGood: !isWanted },
      );
      process.stderr.write(`${name}: ${done.at(-1)?.result}\n`);
    }
    const isGood = done.every((one) => one.isGood);
    const text = table([["SERVER", "RESULT"], ...done.map(({ name, result }): string[] => [name, result])]);
    return { json: done, text, exitCode: isGood ? 0 : 1 };
  });
}

async function backUp(mesh: Mesh, name: string, mayStop: boolean): Promise<Done> {
  const endAt = Date.now() + stopWithinMs;
  const input = { name, may_stop: mayStop, os_user: userInfo().username };
  try {
    const job = await poll(async () => {
      const answer = await mesh.call(backups.backUpNow, input);
      if (answer.state === "started") return answer.job;
      return Date.now() > endAt ? "" : undefined;
    });
    if (job === "") return { name, result: "it did not stop in 10 minutes", isGood: false };
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
    if (mayStop) await startAgain(mesh, name);
  }
}

async function startAgain(mesh: Mesh, name: string): Promise<void> {
  await mesh.call(backups.resumeAfterBackup, { name }).catch((error: Error) => {
    process.stderr.write(`${name}: could not be started again: ${error.message}\n`);
  });
}
