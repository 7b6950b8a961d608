import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Source } from "../controllers/informer.ts";
import type { Container, ContainerStatus, Pod } from "../controllers/objects.ts";
import { keyOf } from "../controllers/objects.ts";
import { timeText } from "../time.ts";
import type { ContainerDeps } from "./container.ts";
import { ContainerWorker } from "./container.ts";
import { ContainerConfigError } from "./environment.ts";
import type { PodReporter } from "./pod-report.ts";
import { createReporter } from "./pod-report.ts";
import type { PodView } from "./pod-status.ts";
import { statusOf } from "./pod-status.ts";
import type { VolumeDeps } from "./volumes.ts";
import { prepareVolumes } from "./volumes.ts";

const RETRY_FIRST_MS = 250;
const RETRY_LONGEST_MS = 10_000;

export type PodDeps = Omit<ContainerDeps, "volumeDirs" | "onChange"> & {
  volumes: VolumeDeps;
  pods: Source<Pod>;
};

export type StopReason = "deleted" | "shutdown";

/** One pod on its node: volumes, then init containers one after the other, then all containers at once. */
export class PodWorker {
  readonly #deps: PodDeps;
  readonly #pod: Pod;
  readonly #volumeDirs = new Map<string, string>();
  readonly #stopping = new AbortController();
  readonly #init: ContainerWorker[];
  readonly #main: ContainerWorker[];
  readonly #startedMs: number;
  readonly #reporter: PodReporter;
  #ending: PodView["ending"];
  #setupMessage: string | undefined;
  /** Resolves when no container will run any more. */
  readonly done: Promise<void>;

  constructor(deps: PodDeps) {
    const { pod } = deps.facts;
    this.#deps = deps;
    this.#pod = pod;
    this.#startedMs = Date.parse(pod.status?.startTime ?? "") || Date.now();
    const containerDeps = { ...deps, volumeDirs: this.#volumeDirs, onChange: () => this.#reporter.soon() };
    const create = (container: Container) => new ContainerWorker(containerDeps, container);
    this.#init = (pod.spec.initContainers ?? []).map(create);
    this.#main = pod.spec.containers.map(create);
    const read = () => statusOf(this.#view(), Date.now());
    this.#reporter = createReporter(deps.api, { pod, pods: deps.pods, read, warn: deps.warn });
    this.#reporter.soon();
    this.done = this.#live();
  }

  /** Ends all containers; resolves when the last one is gone and its status is written. */
  async stop(reason: StopReason, graceMs: number): Promise<void> {
    await this.#end(graceMs);
    await this.done;
    if (reason !== "deleted") return;
    const clean = this.#main.every(({ status }) => status.state.terminated?.exitCode === 0);
    this.#ending ??= { phase: clean ? "Succeeded" : "Failed" };
    await this.#reporter.now();
  }

  async #live(): Promise<void> {
    const deadline = this.#startDeadline();
    try {
      await this.#work();
      // Containers that were taken over but not yet watched at the stop still have to report their end.
      if (this.#stopping.signal.aborted) await Promise.all(this.#all().map((worker) => worker.run("Never")));
    } catch (error) {
      this.#deps.warn(`pod ${this.#pod.metadata.namespace}/${this.#pod.metadata.name}: ${String(error)}`);
    } finally {
      clearTimeout(deadline);
      await this.#reporter.now();
    }
  }

  async #work(): Promise<void> {
    const policy = this.#pod.spec.restartPolicy ?? "Always";
    await this.#setUp();
    for (const worker of this.#init) {
      if (this.#stopping.signal.aborted) return;
      await worker.run(policy === "Always" ? "OnFailure" : policy);
      if (worker.status.state.terminated?.exitCode !== 0) return;
    }
    if (!this.#stopping.signal.aborted) await Promise.all(this.#main.map((worker) => worker.run(policy)));
  }

  async #setUp(): Promise<void> {
    const { facts, paths, volumes, warn } = this.#deps;
    for (let failures = 0; !this.#stopping.signal.aborted; failures += 1) {
      try {
        await mkdir(paths.dir, { recursive: true });
        for (const [name, dir] of await prepareVolumes(volumes, facts, paths))
          this.#volumeDirs.set(name, dir);
        await this.#deps.sandbox?.open(facts, this.#volumeDirs);
        this.#setupMessage = undefined;
        return;
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        if (!(error instanceof ContainerConfigError))
          warn(`pod ${this.#pod.metadata.name} can't be set up: ${text}`);
        this.#setupMessage = text;
        this.#reporter.soon();
        const waitMs = Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_LONGEST_MS);
        await sleep(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      }
    }
  }

  #all(): ContainerWorker[] {
    return [...this.#init, ...this.#main];
  }

  async #end(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#all().map((worker) => worker.stop(graceMs)));
  }

  #startDeadline(): NodeJS.Timeout | undefined {
    const { activeDeadlineSeconds, terminationGracePeriodSeconds = 30 } = this.#pod.spec;
    if (activeDeadlineSeconds === undefined) return undefined;
    const leftMs = this.#startedMs + activeDeadlineSeconds * 1000 - Date.now();
    return setTimeout(
      () => {
        const message = "Pod was active on the node longer than the specified deadline";
        this.#ending = { phase: "Failed", reason: "DeadlineExceeded", message };
        void this.#end(terminationGracePeriodSeconds * 1000);
      },
      Math.max(leftMs, 0),
    );
  }

  #statuses(workers: ContainerWorker[]): ContainerStatus[] {
    const initialized = this.#init.every(({ status }) => status.state.terminated?.exitCode === 0);
    return workers.map(({ status }) => {
      const { waiting } = status.state;
      if (waiting?.reason !== "ContainerCreating") return status;
      if (this.#setupMessage !== undefined) waiting.message = this.#setupMessage;
      else if (workers === this.#main && !initialized) waiting.reason = "PodInitializing";
      return status;
    });
  }

  #view(): PodView {
    const { pods, facts } = this.#deps;
    return {
      pod: pods.get(keyOf(this.#pod)) ?? this.#pod,
      init: this.#statuses(this.#init),
      main: this.#statuses(this.#main),
      podIP: facts.podIP,
      hostIP: facts.hostIP,
      startTime: timeText(this.#startedMs),
      ending: this.#ending,
    };
  }
}
