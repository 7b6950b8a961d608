import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { ClusterApi } from "../cluster-api.ts";
import { tolerate } from "../controllers/context.ts";
import type { Pod, PodStatus } from "../controllers/objects.ts";
import { PODS } from "../controllers/refs.ts";
import type { ContainerDeps, ContainerWorker } from "./container.ts";
import { createContainer } from "./container.ts";
import { ContainerConfigError } from "./environment.ts";
import type { PodView } from "./pod-status.ts";
import { isoTime, statusOf } from "./pod-status.ts";
import type { VolumeDeps } from "./volumes.ts";
import { prepareVolumes } from "./volumes.ts";

const RETRY_FIRST_MS = 250;
const RETRY_LONGEST_MS = 10_000;
const WRITE_RETRY_MS = 500;

export type PodDeps = Omit<ContainerDeps, "volumeDirs" | "onChange"> & { volumes: VolumeDeps };

export type StopReason = "deleted" | "shutdown";

export type PodWorker = {
  /** Ends all containers; resolves when the last one is gone and its status is written. */
  stop(reason: StopReason, graceMs: number): Promise<void>;
  /** Resolves when no container will run any more. */
  done: Promise<void>;
};

/** Writes the status of one pod whenever it differs from what was written last; several changes make one write. */
function createReporter(
  api: ClusterApi,
  { pod, read, warn }: { pod: Pod; read(): PodStatus; warn(text: string): void },
) {
  const { name, namespace = "default", uid } = pod.metadata;
  let written: PodStatus | undefined;
  let pending: NodeJS.Immediate | undefined;
  const write = () => {
    pending = undefined;
    const status = read();
    if (isDeepStrictEqual(status, written)) return;
    // The name may belong to a younger pod by now.
    if (api.find(PODS, name, namespace)?.metadata.uid !== uid) return;
    try {
      const cleared = { reason: null, message: null, ...status };
      tolerate([404], () =>
        api.mergePatch(PODS, { name, namespace, subresource: "status" }, { status: cleared }),
      );
      written = status;
    } catch (error) {
      warn(`the status of pod ${namespace}/${name} could not be written: ${String(error)}`);
      setTimeout(write, WRITE_RETRY_MS).unref();
    }
  };
  return {
    soon: () => {
      pending ??= setImmediate(write);
    },
    now: () => {
      if (pending !== undefined) clearImmediate(pending);
      write();
    },
  };
}

export function startPodWorker(deps: PodDeps): PodWorker {
  const { facts, paths, api } = deps;
  const { pod } = facts;
  const policy = pod.spec.restartPolicy ?? "Always";
  const stopping = new AbortController();
  const volumeDirs = new Map<string, string>();
  const startTime = pod.status?.startTime ?? isoTime(Date.now());
  let ending: PodView["ending"];
  let setupMessage: string | undefined;
  const containerDeps: ContainerDeps = { ...deps, volumeDirs, onChange: () => reporter.soon() };
  const init = (pod.spec.initContainers ?? []).map((one) => createContainer(containerDeps, one));
  const main = pod.spec.containers.map((one) => createContainer(containerDeps, one));
  const statuses = (workers: ContainerWorker[]) =>
    workers.map((worker) => {
      const status = worker.status();
      const { waiting } = status.state;
      if (waiting === undefined) return status;
      if (setupMessage !== undefined) waiting.message = setupMessage;
      else if (waiting.reason === "ContainerCreating" && workers === main && !initialized()) {
        waiting.reason = "PodInitializing";
      }
      return status;
    });
  const initialized = () => init.every((worker) => worker.status().state.terminated?.exitCode === 0);
  const view = (): PodView => ({
    pod: (api.find(PODS, pod.metadata.name, pod.metadata.namespace) as Pod | undefined) ?? pod,
    init: statuses(init),
    main: statuses(main),
    podIP: facts.podIP,
    hostIP: facts.hostIP,
    startTime,
    ending,
  });
  const reporter = createReporter(api, { pod, read: () => statusOf(view(), Date.now()), warn: deps.warn });

  const setUp = async (): Promise<void> => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      try {
        await mkdir(paths.dir, { recursive: true });
        for (const [name, dir] of await prepareVolumes(deps.volumes, facts, paths)) volumeDirs.set(name, dir);
        setupMessage = undefined;
        return;
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        if (!(error instanceof ContainerConfigError))
          deps.warn(`pod ${pod.metadata.name} can't be set up: ${text}`);
        setupMessage = text;
        reporter.soon();
        const waitMs = Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_LONGEST_MS);
        await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  const work = async (): Promise<void> => {
    await setUp();
    const initPolicy = policy === "Always" ? "OnFailure" : policy;
    for (const worker of init) {
      if (stopping.signal.aborted) return;
      await worker.run(initPolicy);
      if (worker.status().state.terminated?.exitCode !== 0) return;
    }
    if (!stopping.signal.aborted) await Promise.all(main.map((worker) => worker.run(policy)));
  };
  /** Containers that were adopted but not attended when the stop came still have to report their end. */
  const settle = async (): Promise<void> => {
    await Promise.all([...init, ...main].map((worker) => worker.run("Never")));
  };
  const end = async (graceMs: number): Promise<void> => {
    stopping.abort();
    await Promise.all([...init, ...main].map((worker) => worker.stop(graceMs)));
  };
  const deadline = startDeadline(pod, startTime, () => {
    ending = {
      phase: "Failed",
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    };
    void end((pod.spec.terminationGracePeriodSeconds ?? 30) * 1000);
  });
  reporter.soon();
  const done = work()
    .then(() => (stopping.signal.aborted ? settle() : undefined))
    .catch((error: unknown) => deps.warn(`pod ${pod.metadata.name}: ${String(error)}`))
    .then(() => {
      clearTimeout(deadline);
      reporter.now();
    });
  return {
    done,
    stop: async (reason, graceMs) => {
      await end(graceMs);
      await done;
      if (reason === "deleted") {
        const clean = main.every((worker) => worker.status().state.terminated?.exitCode === 0);
        ending ??= { phase: clean ? "Succeeded" : "Failed" };
        reporter.now();
      }
    },
  };
}

function startDeadline(pod: Pod, startTime: string, onDeadline: () => void): NodeJS.Timeout | undefined {
  const seconds = pod.spec.activeDeadlineSeconds;
  if (seconds === undefined) return undefined;
  return setTimeout(onDeadline, Math.max(Date.parse(startTime) + seconds * 1000 - Date.now(), 0));
}
