import type { Controller, ControllerDeps } from "../context.ts";
import { controllerQueue, tolerate } from "../context.ts";
import type { Informer } from "../informer.ts";
import { createInformer } from "../informer.ts";
import type { Pod } from "../objects.ts";
import { controllerOf, keyOf } from "../objects.ts";
import { JOBS, PODS } from "../refs.ts";
import { writeStatus } from "../status.ts";
import type { Job, Plan } from "./decide.ts";
import { decide, TRACKING } from "./decide.ts";

function release({ api }: ControllerDeps, pod: Pod): void {
  const { name, namespace = "default", resourceVersion, finalizers = [] } = pod.metadata;
  const left = finalizers.filter((one) => one !== TRACKING);
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  // A concurrent write succeeded first: the watch delivers the pod again and the next pass retries.
  tolerate([404], () =>
    api.mergePatch(PODS, { name, namespace }, { metadata: { finalizers: left, ...version } }),
  );
}

type Wiring = ControllerDeps & { pods: Informer<Pod> };

function act(deps: Wiring, job: Job, plan: Plan): void {
  const { api, pods } = deps;
  const target = { name: job.metadata.name, namespace: job.metadata.namespace ?? "default" };
  if (plan.removeJob) {
    const preconditions = { uid: job.metadata.uid ?? "" };
    tolerate([404, 409], () => api.delete(JOBS, target, { propagationPolicy: "Background", preconditions }));
    return;
  }
  writeStatus(api, JOBS, { object: job, status: plan.status });
  for (const pod of plan.create) pods.assume(api.create(PODS, pod));
  for (const { metadata } of plan.delete) {
    const preconditions = { uid: metadata.uid ?? "" };
    const pod = { name: metadata.name, namespace: target.namespace };
    tolerate([404, 409], () => api.delete(PODS, pod, { preconditions }));
  }
  for (const pod of plan.release) release(deps, pod);
}

type JobOptions = { backoffMs: number };

export function startJobs(
  deps: ControllerDeps,
  { pods }: { pods: Informer<Pod> },
  { backoffMs }: JobOptions,
): Controller {
  const jobs = createInformer<Job>(deps.api, JOBS);
  const queue = controllerQueue("Job", deps, (key) => {
    const job = jobs.get(key);
    if (job === undefined) return undefined;
    const observed = { job, pods: pods.ownedBy(job.metadata.uid ?? ""), nowMs: Date.now(), backoffMs };
    const plan = decide(observed);
    act({ ...deps, pods }, job, plan);
    return plan.requeueMs;
  });
  const orphans = controllerQueue("Pod of a Job", deps, (key) => {
    const pod = pods.get(key);
    const owner = pod === undefined ? undefined : controllerOf(pod);
    if (
      pod === undefined ||
      jobs.get(`${pod.metadata.namespace}/${owner?.name}`)?.metadata.uid === owner?.uid
    ) {
      return undefined;
    }
    // The local copy may be stale; only the API server knows that a Job is gone.
    const { namespace } = pod.metadata;
    const found = owner === undefined ? undefined : deps.api.find(JOBS, owner.name, namespace);
    if (found?.metadata.uid !== owner?.uid) release(deps, pod);
    return undefined;
  });
  jobs.onChange((job, _previous, deleted) => {
    queue.add(keyOf(job));
    if (!deleted) return;
    for (const pod of pods.ownedBy(job.metadata.uid ?? "")) orphans.add(keyOf(pod));
  });
  pods.onChange((pod) => {
    const owner = controllerOf(pod);
    if (owner?.kind !== "Job") return;
    queue.add(`${pod.metadata.namespace}/${owner.name}`);
    if (pod.metadata.finalizers?.includes(TRACKING)) orphans.add(keyOf(pod));
  });
  return {
    close: async () => {
      jobs.close();
      await Promise.all([queue.close(), orphans.close()]);
    },
  };
}
