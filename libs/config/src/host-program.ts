// Programs of a service that carry out one command: as JSON on stdin, answered with JSON on stdout (docs/adr/0010).

import { spawn } from "node:child_process";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

/**
 * Flags of Node for such a program: it shares memory limits with nobody, and a pass of off-site copies leaves as much
 * garbage as it keeps. Young objects get 2 MiB, old ones may grow by a third before they are looked at. The compilers
 * between the interpreter and the one for hot code take memory, and a pass waits for the store and the disk.
 */
export const hostProgramFlags: readonly string[] = [
  "--max-semi-space-size=2",
  "--heap-growing-percent=30",
  "--no-sparkplug",
  "--no-maglev",
];
/**
 * Its variables: memory that is freed goes back to the system at once. By default each thread keeps an arena of its own,
 * and every large buffer that is freed raises the size (up to 32 MiB) below which the allocator keeps buffers.
 */
export const hostProgramMemory: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
};

/** The last line that a program wrote to stderr before it failed. */
class HostProgramError extends Error {
  override name = "HostProgramError";
}

type Options = {
  /** The program gets these alone, and what keeps its memory small. */
  env: NodeJS.ProcessEnv;
  /** Kills it. */
  signal?: AbortSignal;
  /** Called with each line that it writes to stderr meanwhile. */
  onLine?: ((line: string) => void) | undefined;
};

/** Runs a program with one command; throws a `HostProgramError` where it fails. */
export async function runHostProgram(
  program: string,
  command: object,
  { env, signal, onLine }: Options,
): Promise<unknown> {
  const child = spawn(process.execPath, [...hostProgramFlags, program], {
    env: { ...hostProgramMemory, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(signal && { signal }),
  });
  // It may end before it has read all.
  child.stdin.on("error", () => undefined).end(JSON.stringify(command));
  if (onLine) createInterface({ input: child.stderr }).on("line", onLine);
  const [out, error, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done, fail) => child.once("close", done).once("error", fail)),
  ]);
  if (code === 0) return JSON.parse(out);
  throw new HostProgramError(
    error.trim().split("\n").at(-1) || `${basename(program)} ended with ${code ?? "a signal"}`,
  );
}
