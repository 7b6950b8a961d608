// The Job of a build and its Secret (docs/reference/builds.md#job). Pure.

import { type Job, type Secret, secretOwnedBy } from "@svc/kube";
import { parseQuantity } from "@svc/kube/quantity";
import { buildJobs, builds } from "@svc/proto";
import type { Settings } from "../config.ts";

export const label = {
  component: "svc.internal/component",
  managedBy: "svc.internal/managed-by",
  build: "svc.internal/build",
  /** On pods that download files of a pack; a network policy lets them reach the internet. */
  downloads: "svc.internal/build-downloads",
} as const;
/** Selects all Jobs and pods of builds. */
export const selector = `${label.component}=build-job`;

export const jobNameOf = (id: string) => `build-${id}`;

type JobRequest = {
  id: string;
  kind?: builds.BuildKind;
  task: buildJobs.BuildTask;
  hasRegistryCredential: boolean;
};

type Folder = buildJobs.BuildFolder;
type Step = builds.BuildStep;
const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1_000));

// Extraction keeps owners, and the builder gives files the owners that the recipe names.
const ownsFiles = ["CHOWN", "DAC_OVERRIDE", "FOWNER"];
// RUN lines enter a root of their own and change users; all of this is within the baseline of pod security.
const capabilities: Partial<Record<Step, string[]>> = {
  "context-fetch": ownsFiles,
  build: [...ownsFiles, "SETFCAP", "SETGID", "SETUID", "SYS_CHROOT"],
};
const unprivileged = 65_532;

/** Steps in the order in which they run; the last is the pod's main container. */
function stepsOf({ builds: { egress_gate } }: Settings, kind: builds.BuildKind): Step[] {
  return builds.stepsOfKind[kind].filter((step) => egress_gate || step !== "egress-gate");
}

export function buildJob(settings: Settings, request: JobRequest): Job {
  const { id, task, hasRegistryCredential, kind = "build" } = request;
  const { registry, builds: own } = settings;
  const name = jobNameOf(id);
  const labels = { [label.component]: "build-job", [label.managedBy]: "svc-builds", [label.build]: id };
  const containers = stepsOf(settings, kind).map((step) => containerOf(settings, step, JSON.stringify(task)));
  const mounted = new Set(containers.flatMap(({ volumeMounts }) => volumeMounts.map((mount) => mount.name)));
  const volumes = volumesOf(settings, name, hasRegistryCredential).filter((volume) =>
    mounted.has(volume.name),
  );
  const last = containers.pop();
  if (!last) throw new Error("a build has steps");
  // The node ends a pod whose volumes together have more than its containers may.
  last.resources.limits["ephemeral-storage"] = sumOf(volumes.flatMap(sizeOf));
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: registry.build_namespace, labels },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: seconds(own.build_deadline),
      ttlSecondsAfterFinished: seconds(own.job_ttl),
      template: {
        metadata: { labels: { ...labels, ...(task.downloads && { [label.downloads]: "pack" }) } },
        spec: {
          restartPolicy: "Never",
          serviceAccountName: own.job_account,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          ...(registry.build_user_namespaces === "on" && { hostUsers: false }),
          ...(registry.build_runtime_class !== "" && { runtimeClassName: registry.build_runtime_class }),
          securityContext: { seccompProfile: { type: "RuntimeDefault" } },
          initContainers: containers,
          containers: [last],
          volumes,
        },
      },
    },
  };
}

const imageOf = ({ builds: own }: Settings, step: Step): { image: string; command: string[] } => {
  if (step === "build" && own.builder !== "") return { image: own.builder, command: own.builder_command };
  if (step === "scan" || step === "sbom") return { image: own.scanner, command: own.scanner_command };
  return { image: own.agent_image, command: own.agent_command };
};

function containerOf(settings: Settings, step: Step, task: string) {
  const { image, command } = imageOf(settings, step);
  const { reads, writes } = buildJobs.stepFolders[step];
  const mounts = [...reads, ...writes].map((folder) => ({
    name: volumeOf(step, folder),
    mountPath: buildJobs.buildFolders[folder],
    readOnly: reads.includes(folder),
  }));
  const added = capabilities[step];
  const tmp = buildJobs.buildFolders.tmp;
  return {
    name: step,
    image,
    ...(command.length > 0 && { command }),
    args: [step, ...[...reads, ...writes].map((folder) => `--${folder}=${buildJobs.buildFolders[folder]}`)],
    env: [
      { name: "SVC_BUILD_TASK", value: task },
      ...(writes.includes("tmp") ? ["HOME", "TMPDIR"].map((name) => ({ name, value: tmp })) : []),
    ],
    resources: resourcesOf(settings, step),
    volumeMounts: mounts,
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: {
      allowPrivilegeEscalation: false,
      // A builder unpacks images into its own root.
      readOnlyRootFilesystem: step !== "build",
      ...(added
        ? { runAsUser: 0 }
        : { runAsNonRoot: true, runAsUser: unprivileged, runAsGroup: unprivileged }),
      capabilities: { drop: ["ALL"], ...(added && { add: added }) },
    },
  };
}

/** What the log and the own files of a step may have, and what the scheduler counts. */
const smallDisk = "1Gi";

function resourcesOf({ registry, builds: own }: Settings, step: Step) {
  const requests =
    step === "build"
      ? { cpu: registry.build_cpu_limit, memory: registry.build_mem_limit }
      : step === "scan" || step === "sbom"
        ? { cpu: registry.build_cpu_limit, memory: own.scan_memory }
        : { cpu: own.step_cpu, memory: own.step_memory };
  const disk = step === "build" ? registry.build_disk_limit : smallDisk;
  const limits: Record<string, string> = { ...requests, "ephemeral-storage": disk };
  return { requests: { ...requests, "ephemeral-storage": smallDisk }, limits };
}

type Volume = ReturnType<typeof volumesOf>[number];
const sizeOf = (volume: Volume): string[] => ("emptyDir" in volume ? [volume.emptyDir.sizeLimit] : []);

/** Bytes of all of them, and of what the step itself may have. */
function sumOf(sizes: readonly string[]): string {
  const bytes = [...sizes, smallDisk].map((size) => Number(parseQuantity(size) ?? 0n) / 1e9);
  return String(Math.ceil(bytes.reduce((sum, one) => sum + one, 0)));
}

/** Scratch space is not shared between what runs a user's recipe, what scans, and what holds a credential. */
function volumeOf(step: Step, folder: Folder): string {
  if (folder !== "tmp") return folder;
  if (step === "build") return "tmp-build";
  return step === "scan" || step === "sbom" ? "tmp-scan" : `tmp-${step}`;
}

function volumesOf({ registry, builds: own }: Settings, name: string, hasRegistryCredential: boolean) {
  const scratch = (volume: string, sizeLimit: string) => ({ name: volume, emptyDir: { sizeLimit } });
  // Read by the one container that mounts it, whose user is not root.
  const defaultMode = 0o444;
  const secret = (volume: string, key: string) => ({
    name: volume,
    secret: { secretName: name, defaultMode, items: [{ key, path: key }] },
  });
  const { documentsToken, callerToken, registryCredential } = buildJobs.buildFiles;
  return [
    scratch("context", own.context_disk),
    scratch("image", own.image_disk),
    scratch("reports", own.reports_disk),
    scratch("tmp-build", registry.build_disk_limit),
    scratch("tmp-scan", own.scan_disk),
    ...["context-fetch", "scan-gate", "push"].map((step) => scratch(`tmp-${step}`, own.step_disk)),
    secret("secret", documentsToken),
    secret("caller", callerToken),
    hasRegistryCredential ? secret("registry", registryCredential) : scratch("registry", "1Mi"),
  ];
}

type JobSecrets = { documents: string; caller?: string | undefined; registry?: string | undefined };

/** What a Job is told in confidence. */
export function secretOfJob(job: Job, secrets: JobSecrets): Secret {
  const { documentsToken, callerToken, registryCredential } = buildJobs.buildFiles;
  return secretOwnedBy(job, {
    [documentsToken]: secrets.documents,
    ...(secrets.caller !== undefined && { [callerToken]: secrets.caller }),
    ...(secrets.registry !== undefined && { [registryCredential]: secrets.registry }),
  });
}
