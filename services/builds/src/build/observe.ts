// Reads what the cluster knows of a build.

import { isKubeError, type Job, type Kube, type Pod, readPodLog, resources } from "@svc/kube";
import { buildJobs, type builds } from "@svc/proto";
import type { ObservedBuild } from "./decide.ts";
import { type ClusterDeps, inNamespace } from "./deps.ts";
import { label, selector } from "./job.ts";
import type { BuildRow } from "./row.ts";
import { failureIn, plainText, statusesOf, stepsOf, waitIn } from "./steps.ts";

/** Jobs and pods of builds by the id of their build. */
export type BuildObjects = { jobs: ReadonlyMap<string, Job>; pods: ReadonlyMap<string, Pod> };

/** Of one build, or of all. */
export async function readObjects(
  { kube, settings }: Pick<ClusterDeps, "kube" | "settings">,
  id?: string,
): Promise<BuildObjects> {
  const labelSelector = id === undefined ? selector : `${selector},${label.build}=${id}`;
  const about = { ...inNamespace({ settings }), labelSelector };
  const [jobs, pods] = await Promise.all([
    kube.list(resources.jobs, about),
    kube.list(resources.pods, about),
  ]);
  const byBuild = <T extends Job | Pod>(items: readonly T[]) =>
    new Map(items.map((item) => [item.metadata.labels?.[label.build] ?? "", item]));
  return { jobs: byBuild(jobs.items), pods: byBuild(pods.items) };
}

export function stateOf(job: Job | undefined): ObservedBuild["job"] {
  if (!job) return "missing";
  const isTrue = (type: string) =>
    job.status?.conditions?.find((one) => one.type === type && one.status === "True");
  if (isTrue("Complete")) return "complete";
  const failed = isTrue("Failed");
  if (!failed) return "active";
  return failed.reason === "DeadlineExceeded" ? "late" : "failed";
}

export async function observeBuild(
  deps: Pick<ClusterDeps, "kube" | "settings" | "now">,
  row: BuildRow,
  { jobs, pods }: BuildObjects,
): Promise<ObservedBuild> {
  const { settings } = deps;
  const job = stateOf(jobs.get(row.id));
  const pod = pods.get(row.id);
  const hasEnded = job === "complete" || job === "failed";
  const verdict = hasEnded && pod ? await readVerdict(deps, pod) : undefined;
  return {
    kind: row.kind,
    status: row.status,
    isLaunched: row.launched_at !== null,
    startedAt: row.started_at,
    job,
    steps: pod ? stepsOf(pod, row.steps) : row.steps,
    failure: pod && failureIn(pod),
    wait: pod && waitIn(pod),
    podMessage: pod && plainText([pod.status?.reason, pod.status?.message].filter(Boolean).join(": ")),
    verdict,
    push: job === "complete" && pod ? resultIn(pod, "push", buildJobs.PushResult) : undefined,
    ...(job === "complete" && pod && whatWasBuilt(pod)),
    now: deps.now(),
    deadlineMs: settings.builds.build_deadline,
    patienceMs: settings.builds.start_patience,
  };
}

/** Bases and builder as `context-fetch` and the node said them: what runs in `build` could say others. */
function whatWasBuilt(pod: Pod): Pick<ObservedBuild, "built" | "fetched"> {
  const fetched = resultIn(pod, "context-fetch", buildJobs.ContextResult);
  const bases = fetched?.bases ?? resultIn(pod, "build", buildJobs.BuildResult)?.bases ?? [];
  const builder = builderIn(pod, fetched);
  return { fetched, built: { bases, ...(builder && { builder }) } };
}

const longestName = 100;

/** The program, where the step that runs nothing of a Dockerfile has the same image; else the image that the node ran. */
export function builderIn(pod: Pod, fetched?: buildJobs.ContextResult): buildJobs.BuildResult["builder"] {
  const imageOf = (step: builds.BuildStep) =>
    pod.spec?.initContainers?.find(({ name }) => name === step)?.image;
  const image = imageOf("build");
  if (image === undefined) return undefined;
  if (fetched?.builder && image === imageOf("context-fetch")) return fetched.builder;
  const [digest = "unknown"] = /sha256:[0-9a-f]{64}/.exec(statusesOf(pod).get("build")?.imageID ?? "") ?? [];
  return { name: image.split("@", 1).join().slice(0, longestName), version: digest };
}

function resultIn<T>(pod: Pod, step: builds.BuildStep, shape: Shape<T>): T | undefined {
  const ended = statusesOf(pod).get(step)?.state?.terminated;
  return ended?.exitCode === 0 ? parse(shape, ended.message ?? "") : undefined;
}

const verdictBytes = 1_048_576;
const verdictLines = 200;

/** What `scan-gate` printed last; undefined when it did not come that far. */
async function readVerdict(
  { kube, settings }: { kube: Pick<Kube, "transport">; settings: ClusterDeps["settings"] },
  pod: Pod,
): Promise<buildJobs.Verdict | undefined> {
  if (!statusesOf(pod).get("scan-gate")?.state?.terminated) return undefined;
  const request = {
    ...inNamespace({ settings }),
    name: pod.metadata.name,
    container: "scan-gate",
    tailLines: verdictLines,
    lineBytes: verdictBytes,
  };
  let verdict: buildJobs.Verdict | undefined;
  try {
    for await (const group of readPodLog(kube.transport, request)) {
      for (const { line } of group) {
        const text = line.toString("utf8");
        if (!text.startsWith(buildJobs.verdictMark)) continue;
        verdict = parse(buildJobs.Verdict, text.slice(buildJobs.verdictMark.length));
      }
    }
  } catch (error) {
    // The pod has gone meanwhile, or its log was rotated away.
    if (!isKubeError(error, 404) && !isKubeError(error, 400)) throw error;
  }
  return verdict;
}

type Shape<T> = { safeParse: (value: unknown) => { success: true; data: T } | { success: false } };

function parse<T>(shape: Shape<T>, text: string): T | undefined {
  try {
    const parsed = shape.safeParse(JSON.parse(text.trim()));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
