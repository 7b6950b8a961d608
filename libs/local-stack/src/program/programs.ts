import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { StackError } from "../error.ts";
import type { ChildSpec } from "../supervisor/child.ts";
import { findCurrentBuild, findLatestBuild } from "./find.ts";
import { type ProgramName, programSources } from "./sources.ts";

/** Where the Node programs of a stack are: bundled, or as they are in the checkout. */
export type StackPrograms = {
  /** Absolute path of a program. */
  file: (name: ProgramName) => string;
  /** Folder of V8's code cache, where the programs have one of their own. */
  compileCache?: string;
};

/**
 * Flags of every Node process of the stack; the same for all, or they could not share V8's code cache. Young garbage of
 * a gateway under load otherwise grows to 150 MB before it is looked at (docs/performance.md). What only a start runs is
 * a tenth of an idle process; it goes at the second collection after it ran instead of the sixth.
 */
function flagsWith(collector: string): string[] {
  const collection = ["--max-semi-space-size=8", "--expose-gc", "--bytecode-old-age=2"];
  return [...collection, `--import=${pathToFileURL(collector)}`];
}

const repo = join(import.meta.dirname, "..", "..", "..", "..");

/** The same for a program that is run from its source. */
export const nodeFlags: readonly string[] = flagsWith(join(repo, programSources["collect-when-idle"]));

/** Arguments for Node that run a program. */
export function runProgram(programs: StackPrograms, name: ProgramName): string[] {
  return [...flagsWith(programs.file("collect-when-idle")), programs.file(name)];
}

/** Additional environment variables of a program. */
export function programEnv({ compileCache }: StackPrograms): NodeJS.ProcessEnv {
  return compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache };
}

/** The bundled programs of a checkout; `bundle` runs first unless they are there and no source has changed since. */
export async function findPrograms(repo: string, bundle: () => Promise<void>): Promise<StackPrograms> {
  const current = findCurrentBuild(repo);
  if (current === undefined) await bundle();
  const folder = current ?? findLatestBuild(repo);
  if (folder === undefined) throw new StackError("the bundled programs were removed; try again");
  return programsIn(folder);
}

function programsIn(folder: string): StackPrograms {
  return { file: (name) => join(folder, `${name}.mjs`), compileCache: join(folder, "v8") };
}

/** How to run `svc` from the sources as they are now: bundled if it is already, otherwise the given source. */
export function runSvc(repo: string, source: string): { args: string[]; env: NodeJS.ProcessEnv } {
  const folder = findCurrentBuild(repo);
  if (folder === undefined) return { args: [...nodeFlags, source], env: {} };
  const programs = programsIn(folder);
  return { args: runProgram(programs, "svc"), env: programEnv(programs) };
}

/** The task that bundles the programs; takes a second. */
export function bundleSpec(repo: string, env: NodeJS.ProcessEnv): ChildSpec {
  return {
    name: "bundle",
    kind: "task",
    command: process.execPath,
    args: [join(import.meta.dirname, "main.ts"), repo],
    cwd: repo,
    env,
  };
}
