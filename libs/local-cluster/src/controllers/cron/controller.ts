import type { KubeObject, ObjectMeta } from "../../cluster-api.ts";
import type { Controller, ControllerDeps } from "../context.ts";
import { controllerQueue, tolerate } from "../context.ts";
import { createInformer } from "../informer.ts";
import type { Job } from "../job/decide.ts";
import { controllerOf, isTerminating, keyOf, ownerReference } from "../objects.ts";
import { CRON_JOBS, JOBS } from "../refs.ts";
import { writeStatus } from "../status.ts";
import { lastDueMs, parseSchedule, untilNextMinuteMs } from "./schedule.ts";

export type CronJob = KubeObject & {
  spec: {
    schedule: string;
    timeZone?: string;
    suspend?: boolean;
    concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
    startingDeadlineSeconds?: number;
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
    jobTemplate: { metadata?: Partial<ObjectMeta>; spec: Job["spec"] };
  };
  status?: { lastScheduleTime?: string };
};

export type CronPlan = { start?: { job: Job; atMs: number }; delete: Job[]; active: Job[] };

// A schedule that slept longer is looked at for this long at most; older misses are dropped.
const LOOK_BACK_MS = 24 * 3_600_000;

const has = (job: Job, type: string) =>
  job.status?.conditions?.some((one) => one.type === type && one.status === "True") ?? false;
const age = (a: Job, b: Job) =>
  (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "");

function history(jobs: Job[], type: string, keep: number): Job[] {
  const ended = jobs.filter((job) => has(job, type)).sort(age);
  return ended.slice(0, Math.max(ended.length - keep, 0));
}

function jobAt(cron: CronJob, atMs: number): Job {
  const { metadata = {}, spec } = cron.spec.jobTemplate;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      // The name carries the minute, so a repeated pass can't start the same run twice.
      name: `${cron.metadata.name}-${Math.floor(atMs / 60_000)}`,
      namespace: cron.metadata.namespace ?? "default",
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ownerReferences: [ownerReference(cron)],
    },
    spec: structuredClone(spec) as Job["spec"],
  };
}

/** One step of a CronJob: start what is due, keep the policy on overlap, drop old runs. Times are UTC. */
export function decide(cron: CronJob, jobs: Job[], nowMs: number): CronPlan {
  const { suspend, concurrencyPolicy = "Allow", startingDeadlineSeconds } = cron.spec;
  const active = jobs.filter((job) => !has(job, "Complete") && !has(job, "Failed"));
  const old = [
    ...history(jobs, "Complete", cron.spec.successfulJobsHistoryLimit ?? 3),
    ...history(jobs, "Failed", cron.spec.failedJobsHistoryLimit ?? 1),
  ];
  const sinceMs = Math.max(
    Date.parse(cron.status?.lastScheduleTime ?? cron.metadata.creationTimestamp ?? "") || nowMs,
    nowMs - (startingDeadlineSeconds === undefined ? LOOK_BACK_MS : startingDeadlineSeconds * 1000),
  );
  const atMs = suspend === true ? undefined : lastDueMs(parseSchedule(cron.spec.schedule), sinceMs, nowMs);
  const blocked = concurrencyPolicy === "Forbid" && active.length > 0;
  if (atMs === undefined || blocked || isTerminating(cron)) return { delete: old, active };
  const replaced = concurrencyPolicy === "Replace" ? active : [];
  return { start: { job: jobAt(cron, atMs), atMs }, delete: [...old, ...replaced], active };
}

export function startCronJobs(deps: ControllerDeps): Controller {
  const { api } = deps;
  const crons = createInformer<CronJob>(api, CRON_JOBS);
  const jobs = createInformer<Job>(api, JOBS);
  const queue = controllerQueue("CronJob", deps, (key) => {
    const cron = crons.get(key);
    if (cron === undefined) return undefined;
    const nowMs = Date.now();
    const plan = decide(cron, jobs.ownedBy(cron.metadata.uid ?? ""), nowMs);
    for (const { metadata } of plan.delete) {
      const target = { name: metadata.name, namespace: metadata.namespace ?? "default" };
      tolerate([404], () => api.delete(JOBS, target, { propagationPolicy: "Background" }));
    }
    const status: Record<string, unknown> = {
      active: plan.active.map(({ metadata: { name, namespace, uid } }) => ({
        apiVersion: "batch/v1",
        kind: "Job",
        name,
        namespace,
        uid,
      })),
    };
    if (plan.start !== undefined) {
      const { job, atMs } = plan.start;
      tolerate([409], () => jobs.assume(api.create(JOBS, job)));
      status["lastScheduleTime"] = new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
    }
    writeStatus(api, CRON_JOBS, { object: cron, status });
    return untilNextMinuteMs(nowMs);
  });
  crons.onChange((cron) => queue.add(keyOf(cron)));
  jobs.onChange((job) => {
    const owner = controllerOf(job);
    if (owner?.kind === "CronJob") queue.add(`${job.metadata.namespace}/${owner.name}`);
  });
  return {
    close: async () => {
      crons.close();
      jobs.close();
      await queue.close();
    },
  };
}
