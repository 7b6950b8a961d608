// The Job that works on a world or an archive (behaviour.md h.2). Pure.

import type { Job } from "@svc/kube";
import type { Task } from "@svc/world";
import type { Settings } from "../config.ts";
import { label, type Manager } from "./names.ts";

export type JobWish = {
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
  /** What only this Job may know, such as a one-time token; never in its arguments. */
  secretEnv?: Record<string, string>;
  /** Identity of the node that it must run on; the volumes decide otherwise. */
  node?: string;
  /** How long it stays when it has ended and nobody noted it. */
  ttlMs?: number;
};

export const container = "agent";

const mountPath = { world: "/world", archive: "/archive", tmp: "/tmp" } as const;
const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1_000));

/** Root without privileges: worlds hold files of other users that nobody else may read. */
export function worldJob({ k8s, storage }: Pick<Settings, "k8s" | "storage">, wish: JobWish): Job {
  const labels = {
    [label.server]: wish.server,
    [label.managedBy]: wish.manager,
    [label.component]: "world-job",
    ...wish.labels,
  };
  const { annotations } = wish;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: wish.name, namespace: k8s.namespace, labels, ...(annotations && { annotations }) },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: seconds(wish.deadlineMs),
      ttlSecondsAfterFinished: seconds(wish.ttlMs ?? storage.job_unnoted_ttl),
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: "Never",
          ...(wish.node !== undefined && { nodeSelector: { [label.nodeIdentity]: wish.node } }),
          serviceAccountName: storage.job_account,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { runAsUser: 0, seccompProfile: { type: "RuntimeDefault" } },
          containers: [containerOf(storage, wish)],
          volumes: volumesOf(storage, wish),
        },
      },
    },
  };
}

function containerOf(storage: Settings["storage"], wish: JobWish) {
  const { world, archive, task, secretEnv = {} } = wish;
  const isWriter = world?.mode === "rw";
  const resources = { cpu: storage.job_cpu, memory: storage.job_memory };
  const mounts = [
    ...(world ? [{ name: "world", mountPath: mountPath.world, readOnly: world.mode === "ro" }] : []),
    ...(archive ? [{ name: "archive", mountPath: mountPath.archive, readOnly: archive === "ro" }] : []),
    { name: "tmp", mountPath: mountPath.tmp },
  ];
  const secrets = Object.entries(secretEnv).map(([name, value]) => ({ name, value }));
  return {
    name: container,
    image: storage.agent_image,
    ...(storage.agent_command.length > 0 && { command: storage.agent_command }),
    args: mounts.map(({ name, mountPath: path }) => `--${name}=${path}`),
    env: [{ name: "SVC_TASK", value: JSON.stringify(task) }, ...secrets],
    resources: { requests: resources, limits: resources },
    volumeMounts: mounts,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      // Files of a world belong to the game's user: root without these can neither read nor put them back.
      capabilities: { drop: ["ALL"], add: isWriter ? ["DAC_OVERRIDE", "CHOWN", "FOWNER"] : ["DAC_OVERRIDE"] },
    },
  };
}

function volumesOf(storage: Settings["storage"], { world, archive }: JobWish) {
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
    { name: "tmp", emptyDir: {} },
  ];
}
