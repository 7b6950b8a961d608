import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { StackError } from "../error.ts";
import { type BackOff, backOff } from "./back-off.ts";
import { type Child, type ChildSpec, createChild } from "./child.ts";
import { rotateLogs } from "./log-rotation.ts";
import type { Registry } from "./registry.ts";

export type RunningProcess = {
  name: string;
  pid: number;
  log: string;
  /** Address that Prometheus scrapes; absent until the process is ready, and for a process without metrics. */
  metrics?: string;
};

export type Supervisor = {
  /**
   * Starts processes in the order of their `after` lists, in parallel where possible; `after` may name processes of an
   * earlier call. Resolves when all are ready. Rejects with the first `StackError`; call `stop` then.
   */
  start: (specs: readonly ChildSpec[]) => Promise<void>;
  /** The living ones. */
  running: () => RunningProcess[];
  /** Stops all in reverse order within `stopWithinMs`, then kills the rest. Nothing is restarted afterwards. */
  stop: () => Promise<void>;
};

type SupervisorOptions = {
  registry: Registry;
  logDir: string;
  say: (line: string) => void;
  /** Called whenever a pid or a metrics address changes. */
  onChange?: () => void;
  /** 25 s by default. */
  stopWithinMs?: number;
  backOff?: BackOff;
};

type Entry = { child: Child; spec: ChildSpec; rank: number; ready: Promise<void> };

const defaultStopWithinMs = 25_000;
// Part of the budget reserved for the processes that stop last (cluster, NATS, PostgreSQL).
const reservedShare = 0.3;

/** Keeps a set of processes alive in their order (docs/reference/local-stack.md#parts). Leaves no process behind after `stop`. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  mkdirSync(options.logDir, { recursive: true, mode: 0o700 });
  const entries = new Map<string, Entry>();
  const endRotation = rotateLogs(() => [...entries.values()].map((entry) => entry.child.logPath));
  let stopping: Promise<void> | undefined;

  const add = (spec: ChildSpec): Entry => {
    if (entries.has(spec.name)) throw new StackError(`two processes are named ${spec.name}`);
    const before = (spec.after ?? []).map((name) => {
      const entry = entries.get(name);
      if (!entry)
        throw new StackError(`${spec.name} must start after ${name}, which is not declared before it`);
      return entry;
    });
    const rank = 1 + Math.max(0, ...before.map((entry) => entry.rank));
    const child = createChild(spec, {
      registry: options.registry,
      logPath: join(options.logDir, `${spec.name}.log`),
      rank,
      backOff: options.backOff ?? backOff,
      say: options.say,
      onChange: () => options.onChange?.(),
    });
    const ready = (async () => {
      await Promise.all(before.map((entry) => entry.ready));
      if (!stopping) await child.start();
    })();
    // The caller of start sees the failure; a process that waits for this one must not report it again.
    ready.catch(() => undefined);
    const entry = { child, spec, rank, ready };
    entries.set(spec.name, entry);
    return entry;
  };

  return {
    start: async (specs) => {
      await Promise.all(specs.map(add).map((entry) => entry.ready));
    },
    running: () =>
      [...entries.values()].flatMap(({ child, spec }) => {
        const pid = child.pid();
        if (pid === undefined || spec.kind === "task") return [];
        const metrics = child.metrics();
        return [{ name: child.name, pid, log: child.logPath, ...(metrics !== undefined && { metrics }) }];
      }),
    stop: () => {
      stopping ??= stopAll([...entries.values()], options.stopWithinMs ?? defaultStopWithinMs).finally(
        endRotation,
      );
      return stopping;
    },
  };
}

/** Stops each process as soon as all that were started after it are gone. */
async function stopAll(entries: readonly Entry[], withinMs: number): Promise<void> {
  const end = Date.now() + withinMs;
  const gone = new Map<string, Promise<void>>();
  const isLeaf = (name: string) => !entries.some((entry) => entry.spec.after?.includes(name));
  const stopOne = async ({ child, spec }: Entry): Promise<void> => {
    const dependents = entries.filter((other) => other.spec.after?.includes(spec.name));
    await Promise.all(dependents.map((other) => gone.get(other.spec.name)));
    const left = end - Date.now();
    await child.stop(isLeaf(spec.name) ? left - withinMs * reservedShare : left);
  };
  for (const entry of entries.toReversed()) gone.set(entry.spec.name, stopOne(entry));
  await Promise.all(gone.values());
}
