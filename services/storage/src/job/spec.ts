// The Job object that works on a world or an archive (docs/reference/world-lock.md#jobs). Pure.

import { type Job, type Secret, secretOwnedBy } from "@svc/kube";
import type { StagedParts, Task } from "@svc/proto/world-task";
import type { Settings } from "../config.ts";
import { label, type Manager } from "./names.ts";
import { type Pin, pinned } from "./pin.ts";

export type JobSpec = {
  name: string;
  server: string;
  manager: Manager;
  task: Task;
  deadlineMs: number;
  /** Volume claim of the world; absent when only the archive is read. */
  world?: { claim: string; mode: "ro" | "rw" };
  archive?: "ro" | "rw";
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** Secrets of this Job: files of a Secret of its own, never arguments or environment. */
  secret?: JobSecret;
  /** Identity of the node it must run on, whatever its volumes and its server say. */
  node?: string;
  /** How long the finished Job is kept until its result is recorded. */
  ttlMs?: number;
  /** W3C `traceparent` of whoever makes it. */
  traceparent?: string | undefined;
};

/** A Job that has its node, and its archive folder or a ticket in its place. */
export type PlacedJobSpec = JobSpec & { readonly pin: Pin | undefined };

/** A one-time token, the content of a file to write, and the parts of an upload. */
export type JobSecret = { token?: string; content?: Buffer; parts?: StagedParts };

export const container = "agent";

const mountPath = { world: "/world", archive: "/archive", secret: "/run/svc/secret", tmp: "/tmp" } as const;
const ownerReadsOnly = 0o400;
const gameUser = 1000;
const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1_000));

/**
 * Runs as the user that servers run as, to whom every file of a world belongs, and who the archive folder belongs to. Secrets
 * belong to root, and are read through the group.
 */
export function worldJob({ k8s, storage }: Pick<Settings, "k8s" | "storage">, spec: PlacedJobSpec): Job {
  const labels = {
    [label.server]: spec.server,
    [label.managedBy]: spec.manager,
    [label.component]: "world-job",
    ...spec.labels,
  };
  const { annotations } = spec;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: spec.name, namespace: k8s.namespace, labels, ...(annotations && { annotations }) },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: seconds(spec.deadlineMs),
      ttlSecondsAfterFinished: seconds(spec.ttlMs ?? storage.job_unnoted_ttl),
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: "Never",
          ...pinned(spec.pin),
          serviceAccountName: storage.job_account,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: gameUser,
            runAsGroup: gameUser,
            fsGroup: gameUser,
            fsGroupChangePolicy: "OnRootMismatch",
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [containerOf(storage, spec)],
          volumes: volumesOf(storage, spec),
        },
      },
    },
  };
}

function containerOf(storage: Settings["storage"], spec: JobSpec) {
  const { world, archive, task, secret } = spec;
  const resources = { cpu: storage.job_cpu, memory: storage.job_memory };
  const mounts = [
    ...(world ? [{ name: "world", mountPath: mountPath.world, readOnly: world.mode === "ro" }] : []),
    ...(archive ? [{ name: "archive", mountPath: mountPath.archive, readOnly: archive === "ro" }] : []),
    ...(secret ? [{ name: "secret", mountPath: mountPath.secret, readOnly: true }] : []),
    { name: "tmp", mountPath: mountPath.tmp },
  ];
  return {
    name: container,
    image: storage.agent_image,
    ...(storage.agent_command.length > 0 && { command: storage.agent_command }),
    args: mounts.map(({ name, mountPath: path }) => `--${name}=${path}`),
    env: [
      { name: "SVC_TASK", value: JSON.stringify(task) },
      ...(spec.traceparent === undefined ? [] : [{ name: "TRACEPARENT", value: spec.traceparent }]),
    ],
    resources: { requests: resources, limits: resources },
    volumeMounts: mounts,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
  };
}

function volumesOf(storage: Settings["storage"], { name, world, archive, secret }: JobSpec) {
  return [
    ...(world ? [{ name: "world", persistentVolumeClaim: { claimName: world.claim } }] : []),
    ...(archive
      ? [
          {
            name: "archive",
            persistentVolumeClaim: { claimName: storage.archive_claim, readOnly: archive === "ro" },
          },
        ]
      : []),
    ...(secret ? [{ name: "secret", secret: { secretName: name, defaultMode: ownerReadsOnly } }] : []),
    { name: "tmp", emptyDir: {} },
  ];
}

/** Secrets passed to a Job. */
export function secretOfJob(job: Job, { token, content, parts }: JobSecret): Secret {
  return secretOwnedBy(job, {
    ...(token !== undefined && { token }),
    ...(content && { content }),
    ...(parts && { parts: JSON.stringify(parts) }),
  });
}

/** Whether the Job mounts a Secret of its own. */
export function needsSecret({ spec }: Job): boolean {
  return spec?.template.spec?.volumes?.some(({ name }) => name === "secret") === true;
}
