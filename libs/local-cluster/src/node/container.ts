import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Container, ContainerStatus } from "../controllers/objects.ts";
import { createBackOff } from "./back-off.ts";
import type { Command, CommandDeps } from "./command.ts";
import { buildCommand } from "./command.ts";
import { ContainerConfigError } from "./environment.ts";
import type { Images } from "./images.ts";
import { startLogClock } from "./log-clock.ts";
import type { LogClocks } from "./pod-logs.ts";
import { isFinal, isoTime } from "./pod-status.ts";
import { startProber } from "./prober.ts";
import type { ContainerProcess } from "./processes.ts";
import { attemptsIn } from "./processes.ts";
import type { Run } from "./run.ts";
import { adopt, launch } from "./run.ts";
import { terminate, terminationMessage } from "./termination.ts";

const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 10_000;

export type ContainerDeps = CommandDeps & {
  images: Images;
  clocks: LogClocks;
  /** Processes of containers that were found when the cluster started. */
  processes: ContainerProcess[];
  crashBackoffMs: number;
  warn(text: string): void;
  onChange(): void;
};

export type ContainerWorker = {
  status(): ContainerStatus;
  /** Runs it, again and again as the policy says; resolves when it will not run any more or was stopped. */
  run(policy: string): Promise<void>;
  stop(graceMs: number): Promise<void>;
};

class ImageError extends Error {
  override name = "ImageError";
}

function initialStatus(container: Container, known: ContainerStatus | undefined): ContainerStatus {
  return {
    name: container.name,
    image: container.image,
    imageID: container.image,
    restartCount: known?.restartCount ?? 0,
    ready: false,
    started: false,
    state: { waiting: { reason: "ContainerCreating" } },
    lastState: known?.lastState ?? {},
  };
}

function waitingFor(error: unknown, again: boolean): { reason: string; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ImageError) return { reason: again ? "ImagePullBackOff" : "ErrImagePull", message };
  if (error instanceof ContainerConfigError) return { reason: "CreateContainerConfigError", message };
  return { reason: "CreateContainerError", message };
}

export function createContainer(deps: ContainerDeps, container: Container): ContainerWorker {
  const { facts, paths, clocks, onChange } = deps;
  const { pod, podIP } = facts;
  const uid = pod.metadata.uid ?? "";
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const known = statuses.find(({ name }) => name === container.name);
  const status = initialStatus(container, known);
  const stopping = new AbortController();
  const backOff = createBackOff(deps.crashBackoffMs);
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  const attempts = attemptsIn(paths.runs(container.name));
  let attempt = attempts.at(-1) ?? -1;
  let current = attempt < 0 ? undefined : adopt(paths.run(container.name, attempt), deps.processes);
  let attended: Run | undefined;
  let command: Command | undefined;
  if (current === undefined && attempt >= 0) attempt -= 1;

  const set = (next: Partial<ContainerStatus>) => {
    Object.assign(status, next);
    onChange();
  };
  const prepare = async (runDir: string): Promise<Command> => {
    const image = await deps.images.find(container.image);
    if (image === undefined) {
      throw new ImageError(
        `image "${container.image}" is not in the image table; add it there and the pod starts`,
      );
    }
    return buildCommand(deps, container, { image, runDir });
  };
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  /** Tries until the container is started; undefined when it was stopped before that. */
  const start = async (): Promise<Run | undefined> => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      const dir = paths.run(container.name, attempt + 1);
      try {
        command = await prepare(dir);
        if (stopping.signal.aborted) return undefined;
        const run = await launch({ dir, ...command });
        attempt += 1;
        await rm(paths.run(container.name, attempt - 2), { recursive: true, force: true });
        return run;
      } catch (error) {
        set({ state: { waiting: waitingFor(error, failures > 0) } });
        await pause(Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_LONGEST_MS));
      }
    }
    return undefined;
  };
  const probe = (run: Run, initial: ContainerStatus | undefined, signal: AbortSignal) => {
    const exec = (argv: string[]) => command?.beside(argv) ?? { argv, env: deps.hostEnv, cwd: "/" };
    startProber(
      {
        target: { podIP, container, exec },
        initial,
        onHealth: (health) => set(health),
        onUnhealthy: (message) => {
          deps.warn(
            `pod ${pod.metadata.namespace}/${pod.metadata.name}: restarting ${container.name}: ${message}`,
          );
          void terminate({ run, container, command, podIP }, graceMs);
        },
      },
      signal,
    );
  };
  /** Sees one run through to its end. */
  const attend = async (run: Run, initial: ContainerStatus | undefined): Promise<number> => {
    attended = run;
    const startedAt = isoTime(run.startedAtMs);
    const containerID = `local://${uid}/${container.name}/${attempt}`;
    const probes = new AbortController();
    if (run.past === undefined) {
      // After a restart of the cluster the commands of probes and hooks must be known again.
      command ??= await prepare(run.dir).catch(() => undefined);
      const clock = startLogClock(run.dir, (error) => deps.warn(`log of ${containerID}: ${String(error)}`));
      clocks.set(run.dir, clock);
      set({ containerID, restartCount: attempt, state: { running: { startedAt } } });
      probe(run, initial, probes.signal);
      await run.ended;
      probes.abort();
      await clock.finish();
      clocks.delete(run.dir);
    }
    const end = await run.ended;
    const message = await terminationMessage(run, container, end);
    const terminated = {
      exitCode: end.exitCode,
      reason: end.exitCode === 0 ? "Completed" : "Error",
      ...(message === undefined ? {} : { message }),
      startedAt,
      finishedAt: isoTime(end.finishedAtMs),
      containerID,
    };
    set({ containerID, restartCount: attempt, ready: false, started: false, state: { terminated } });
    return Math.max(end.finishedAtMs - run.startedAtMs, 0);
  };
  const waitForRestart = async (livedMs: number): Promise<void> => {
    const { terminated } = status.state;
    const waitMs = backOff.nextMs(livedMs);
    if (waitMs === 0 || terminated === undefined) return;
    const message = `back-off ${waitMs / 1000}s restarting failed container=${container.name} pod=${pod.metadata.name}`;
    set({ state: { waiting: { reason: "CrashLoopBackOff", message } }, lastState: { terminated } });
    await pause(waitMs);
    // Stopped while it waited: what is left to tell is how it ended.
    if (stopping.signal.aborted) set({ state: { terminated } });
  };
  return {
    status: () => structuredClone(status),
    run: async (policy) => {
      // Only a life that goes on may inherit what its probes had found.
      let initial = current !== undefined && current.past === undefined ? known : undefined;
      for (;;) {
        if (current !== undefined && current === attended) return;
        current ??= await start();
        if (current === undefined) return;
        const livedMs = await attend(current, initial);
        initial = undefined;
        if (stopping.signal.aborted || isFinal(status, policy)) return;
        await waitForRestart(livedMs);
        if (stopping.signal.aborted) return;
        const { terminated } = status.state;
        if (terminated !== undefined) status.lastState = { terminated };
        current = undefined;
      }
    },
    stop: async (stopGraceMs) => {
      stopping.abort();
      if (current !== undefined) await terminate({ run: current, container, command, podIP }, stopGraceMs);
    },
  };
}
