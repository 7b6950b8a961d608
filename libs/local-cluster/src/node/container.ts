import { setTimeout as sleep } from "node:timers/promises";
import type { Container, ContainerStatus } from "../controllers/objects.ts";
import { ImageError } from "../image/image-error.ts";
import type { Image, Images } from "../image/images.ts";
import { removeTree } from "../remove-tree.ts";
import { timeText } from "../time.ts";
import { createBackOff } from "./back-off.ts";
import type { Command, CommandDeps } from "./command.ts";
import { buildCommand } from "./command.ts";
import { ContainerConfigError } from "./environment.ts";
import { startLogClock } from "./log-clock.ts";
import { volumeAt } from "./mounts.ts";
import type { LogClocks } from "./pod-logs.ts";
import { isFinal } from "./pod-status.ts";
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

function initialStatus(container: Container, known: ContainerStatus | undefined): ContainerStatus {
  return {
    name: container.name,
    image: container.image,
    imageID: known?.imageID ?? container.image,
    restartCount: known?.restartCount ?? 0,
    ready: false,
    started: false,
    state: { waiting: { reason: "ContainerCreating" } },
    lastState: known?.lastState ?? {},
  };
}

function waitingFor(error: unknown, again: boolean): { reason: string; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ImageError) return { reason: imageReason(error, again), message };
  if (error instanceof ContainerConfigError) return { reason: "CreateContainerConfigError", message };
  return { reason: "CreateContainerError", message };
}

function imageReason(error: ImageError, again: boolean): string {
  if (error.isInvalidName) return "InvalidImageName";
  return again ? "ImagePullBackOff" : "ErrImagePull";
}

/** One container of a pod over all its lives. It takes over the life that an earlier cluster process left behind. */
export class ContainerWorker {
  readonly #deps: ContainerDeps;
  readonly #container: Container;
  readonly #known: ContainerStatus | undefined;
  readonly #status: ContainerStatus;
  readonly #stopping = new AbortController();
  #graceMs: number;
  #attempt: number;
  #current: Run | undefined;
  #attended: Run | undefined;
  #command: Command | undefined;

  constructor(deps: ContainerDeps, container: Container) {
    const { pod } = deps.facts;
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    this.#deps = deps;
    this.#container = container;
    this.#known = statuses.find(({ name }) => name === container.name);
    this.#status = initialStatus(container, this.#known);
    this.#graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
    this.#attempt = attemptsIn(deps.paths.runs(container.name)).at(-1) ?? -1;
    if (this.#attempt >= 0) this.#current = adopt(this.#dir(this.#attempt), deps.processes);
    // The directory was made but nothing was started in it.
    if (this.#attempt >= 0 && this.#current === undefined) this.#attempt -= 1;
  }

  get status(): ContainerStatus {
    return structuredClone(this.#status);
  }

  /** Runs it, again and again as the policy says; resolves when it will not run any more or was stopped. */
  async run(policy: string): Promise<void> {
    // Only a life that goes on may inherit what its probes had found.
    let initial = this.#current !== undefined && this.#current.past === undefined ? this.#known : undefined;
    const backOff = createBackOff(this.#deps.crashBackoffMs);
    for (;;) {
      if (this.#current !== undefined && this.#current === this.#attended) return;
      this.#current ??= await this.#start();
      if (this.#current === undefined) return;
      const livedMs = await this.#attend(this.#current, initial);
      initial = undefined;
      if (this.#stopping.signal.aborted || isFinal(this.#status, policy)) return;
      await this.#waitForRestart(backOff.nextMs(livedMs));
      if (this.#stopping.signal.aborted) return;
      const { terminated } = this.#status.state;
      if (terminated !== undefined) this.#status.lastState = { terminated };
      this.#current = undefined;
    }
  }

  /** Ends the life that goes on, if any, and lets no other begin. A second call may shorten the grace period. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    this.#graceMs = graceMs;
    if (this.#current !== undefined) await terminate(this.#ending(this.#current), graceMs);
  }

  #dir(attempt: number): string {
    return this.#deps.paths.run(this.#container.name, attempt);
  }

  #ending(run: Run) {
    const { podIP } = this.#deps.facts;
    return { run, container: this.#container, command: this.#command, podIP };
  }

  #set(next: Partial<ContainerStatus>): void {
    Object.assign(this.#status, next);
    this.#deps.onChange();
  }

  async #findImage(): Promise<Image> {
    const image = await this.#deps.images.find(this.#container.image, this.#stopping.signal);
    this.#set({ imageID: image.id });
    return image;
  }

  /** Everything of a start before the process: the image, its files in the volume, the command. */
  async #prepare(runDir: string): Promise<Command> {
    const image = await this.#findImage();
    const command = await buildCommand(this.#deps, this.#container, { image, runDir });
    const volume = image.data && volumeAt(image.data.path, this.#container, this.#deps.volumeDirs);
    if (volume !== undefined && !this.#stopping.signal.aborted) await image.data?.fill(volume);
    return command;
  }

  /** The command of a run that goes on: nothing is copied into a volume that is being used. */
  async #recall(runDir: string): Promise<Command> {
    return buildCommand(this.#deps, this.#container, { image: await this.#findImage(), runDir });
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  /** Tries until the container is started; undefined when it was stopped before that. */
  async #start(): Promise<Run | undefined> {
    for (let failures = 0; !this.#stopping.signal.aborted; failures += 1) {
      const dir = this.#dir(this.#attempt + 1);
      try {
        this.#command = await this.#prepare(dir);
        if (this.#stopping.signal.aborted) return undefined;
        await removeTree(this.#dir(this.#attempt - 1));
        const run = await launch({ dir, ...this.#command });
        this.#attempt += 1;
        // In the same turn as the look at the signal: a stop either finds this run or is seen here.
        this.#current = run;
        if (this.#stopping.signal.aborted) void terminate(this.#ending(run), this.#graceMs);
        return run;
      } catch (error) {
        this.#set({ state: { waiting: waitingFor(error, failures > 0) } });
        await this.#pause(Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_LONGEST_MS));
      }
    }
    return undefined;
  }

  #probe(run: Run, initial: ContainerStatus | undefined, signal: AbortSignal): void {
    const { facts, hostEnv, warn } = this.#deps;
    const exec = (argv: string[]) => this.#command?.beside(argv) ?? { argv, env: hostEnv, cwd: "/" };
    const { namespace, name } = facts.pod.metadata;
    startProber(
      {
        target: { podIP: facts.podIP, container: this.#container, exec },
        initial,
        onHealth: (health) => this.#set(health),
        onUnhealthy: (message) => {
          warn(`pod ${namespace}/${name}: container ${this.#container.name} is restarted: ${message}`);
          void terminate(this.#ending(run), this.#graceMs);
        },
      },
      signal,
    );
  }

  /** Sees a living run through to its end, with its log and its probes. */
  async #accompany(run: Run, initial: ContainerStatus | undefined): Promise<void> {
    const { clocks, warn } = this.#deps;
    // After a restart of the cluster the commands of probes and hooks must be known again.
    this.#command ??= await this.#recall(run.dir).catch(() => undefined);
    const clock = startLogClock(run.dir, (error) =>
      warn(`the log in ${run.dir} can't be followed: ${String(error)}`),
    );
    clocks.set(run.dir, clock);
    const probes = new AbortController();
    this.#set({
      containerID: this.#id(),
      restartCount: this.#attempt,
      state: { running: { startedAt: timeText(run.startedAtMs) } },
    });
    this.#probe(run, initial, probes.signal);
    await run.ended;
    probes.abort();
    await clock.finish();
    clocks.delete(run.dir);
  }

  #id(): string {
    return `local://${this.#deps.facts.pod.metadata.uid}/${this.#container.name}/${this.#attempt}`;
  }

  /** Reports one life from now to its end; returns how long it lasted. */
  async #attend(run: Run, initial: ContainerStatus | undefined): Promise<number> {
    this.#attended = run;
    if (run.past === undefined) await this.#accompany(run, initial);
    const end = await run.ended;
    const message = await terminationMessage(run, this.#container, end);
    const terminated = {
      exitCode: end.exitCode,
      reason: end.exitCode === 0 ? "Completed" : "Error",
      ...(message === undefined ? {} : { message }),
      startedAt: timeText(run.startedAtMs),
      finishedAt: timeText(end.finishedAtMs),
      containerID: this.#id(),
    };
    this.#set({
      containerID: this.#id(),
      restartCount: this.#attempt,
      ready: false,
      started: false,
      state: { terminated },
    });
    return Math.max(end.finishedAtMs - run.startedAtMs, 0);
  }

  async #waitForRestart(waitMs: number): Promise<void> {
    const { terminated } = this.#status.state;
    if (waitMs === 0 || terminated === undefined) return;
    const { name } = this.#deps.facts.pod.metadata;
    const message = `back-off ${waitMs / 1000}s restarting failed container=${this.#container.name} pod=${name}`;
    this.#set({ state: { waiting: { reason: "CrashLoopBackOff", message } }, lastState: { terminated } });
    await this.#pause(waitMs);
    // Stopped while it waited: what is left to tell is how it ended.
    if (this.#stopping.signal.aborted) this.#set({ state: { terminated } });
  }
}
