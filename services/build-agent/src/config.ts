// Input of a build step: its task from the environment, its folders from arguments (docs/reference/builds.md#job).

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as buildJobs from "@svc/proto/build-job";
import { type ContextLimits, contextLimits } from "@svc/world";

const { BuildTask, buildFolders } = buildJobs;

type Environment = NodeJS.ProcessEnv;
type FolderName = keyof typeof buildFolders;

export type Settings = {
  step: string;
  task: buildJobs.BuildTask;
  /** Path of a folder that this step mounts; throws when it was not given. */
  folder: (name: FolderName) => string;
  /** Text of a mounted file; undefined when it is missing. */
  secret: (name: FolderName, file: string) => string | undefined;
  terminationLog: string;
  /** Of svc. */
  version: string;
  env: Environment;
};

export const limits = {
  /** Longest wait of `egress-gate` for the network policy. */
  fenceMs: 120_000,
  /** Between two pieces of the context. */
  stallMs: 120_000,
  /** Longest wait for one answer of the registry, and for how long writes to it are repeated. */
  registryMs: 60_000,
  registryRetryMs: 600_000,
  /** For how long documents are sent again. */
  documentsMs: 60_000,
  /** Longest line of a program's log, and most characters of all its lines. */
  logLine: 8_192,
  logBytes: 32 << 20,
  /** Share of the scratch volume that a program leaves free, and how often that is checked. */
  keepFree: 0.05,
  diskCheckMs: 1_000,
  /** Most processes of a program at once: not every node bounds those of a pod. Checked as often as the disk. */
  processes: 4_096,
  /** For how long the context and the registry are asked again while they are unavailable. */
  retryMs: 120_000,
  /** Largest report that is read: as JSON it takes some eight times that in the memory of a step. */
  reportBytes: 32 << 20,
} as const;

export function terminationLogOf(env: Environment): string {
  return env["SVC_TERMINATION_LOG"] || "/dev/termination-log";
}

/** Throws when the Job was made wrongly. */
export function readSettings([step = "", ...args]: string[], env: Environment): Settings {
  const options = Object.fromEntries(
    Object.keys(buildFolders).map((name) => [name, { type: "string" as const }]),
  );
  const { values } = parseArgs({ args, options });
  const task = env["SVC_BUILD_TASK"];
  if (!task) throw new Error("SVC_BUILD_TASK is missing");
  const folder = (name: FolderName) => {
    const path = values[name];
    if (typeof path !== "string") throw new Error(`--${name} is missing`);
    return path;
  };
  return {
    step,
    task: BuildTask.parse(JSON.parse(task)),
    folder,
    secret: (name, file) => (values[name] === undefined ? undefined : readText(join(folder(name), file))),
    terminationLog: terminationLogOf(env),
    version: env["SVC_VERSION"] || "0.1.0",
    env,
  };
}

/** What a context, and an archive in it, may hold. */
export function limitsOf({ limits: most }: buildJobs.BuildTask): ContextLimits {
  return { ...contextLimits, entries: most.context_entries, plainBytes: most.context_bytes };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
