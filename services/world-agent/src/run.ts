// Table of contents: which mode does what.

import type { Task, TaskDone, TaskResult } from "@svc/proto/world-task";
import { assertRecovered, Folder, isWorldFault, recoverWorld } from "@svc/world";
import type { Settings } from "./config.ts";
import type { Context } from "./context.ts";
import { backup } from "./modes/backup.ts";
import { browse } from "./modes/browse.ts";
import { compare } from "./modes/compare.ts";
import { exportOut } from "./modes/export.ts";
import * as files from "./modes/files.ts";
import { plan } from "./modes/plan.ts";
import { restore } from "./modes/restore.ts";
import { verify } from "./modes/verify.ts";

type Mode<Name extends Task["mode"]> = (task: Task & { mode: Name }, context: Context) => Promise<TaskDone>;

const modes: { [Name in Task["mode"]]: Mode<Name> } = {
  backup,
  verify,
  restore,
  browse,
  compare,
  plan,
  export: exportOut,
  list: files.list,
  read: files.read,
  search: files.search,
  write: files.write,
  mkdir: files.mkdir,
  delete: files.remove,
  rename: files.rename,
  upload: files.upload,
  unzip: files.unzip,
  archive: files.archive,
  plugins: files.plugins,
  install: files.install,
  changed: files.changed,
  "set-aside": files.setAside,
  "put-back": files.putBack,
};

/** Modes that change the world; before them, whatever an earlier run left is settled. */
const writers = new Set<Task["mode"]>([
  ...(["restore", "write", "mkdir", "delete", "rename", "upload", "unzip", "archive"] as const),
  ...(["set-aside", "put-back", "install"] as const),
]);

type RunDeps = Omit<Context, "world" | "archive">;

/** A fault of the caller is a result; everything else throws. */
export async function runTask(settings: Settings, deps: RunDeps): Promise<TaskResult> {
  await using world = await openVolume(settings.world);
  await using archive = await openVolume(settings.archive);
  try {
    if (world) {
      if (writers.has(settings.task.mode)) await settle(world, deps);
      else await assertRecovered(world);
    }
    const context: Context = {
      ...deps,
      get world() {
        return need(world, "--world");
      },
      get archive() {
        return need(archive, "--archive");
      },
    };
    const mode = modes[settings.task.mode] as Mode<Task["mode"]>;
    return { ok: true, done: await mode(settings.task, context) };
  } catch (error) {
    if (isWorldFault(error)) return { ok: false, fault: error.fault };
    throw error;
  }
}

async function settle(world: Folder, { say }: RunDeps): Promise<void> {
  const { completed, swept } = await recoverWorld(world);
  if (completed > 0) say(`carried ${completed} interrupted switches through`);
  if (swept > completed) say(`removed ${swept - completed} partials of interrupted runs`);
}

async function openVolume(path: string | undefined): Promise<Folder | undefined> {
  return path === undefined ? undefined : await Folder.openRoot(path);
}

function need(folder: Folder | undefined, option: string): Folder {
  if (!folder) throw new Error(`${option} is missing`);
  return folder;
}
