// What runs to its end: the migration before each release, and the daily reaper.

import { owners } from "@svc/proto";
import { digest, type Template, text } from "../template/expression.ts";
import { databaseUrl, natsUrl, natsUrlOf } from "./addresses.ts";
import {
  asUser,
  confined,
  head,
  labelsOf,
  type Mount,
  type ObjectFile,
  scratch,
  secretVariable,
  selectorOf,
  user,
  type V,
  volumeMountsOf,
  volumesOf,
} from "./common.ts";
import { authoritiesVariable, configMount } from "./config.ts";
import { backups } from "./services.ts";

/** Services of a release start only once its migration is done; until then those of the release before go on. */
export function migrationFile(v: V): ObjectFile {
  const name = "migrate";
  return {
    file: "migrate.yaml",
    about:
      "Brings database and streams up to the release, after a bundle of what is there. Each image has a Job of its own.",
    objects: [
      {
        ...head({
          apiVersion: "batch/v1",
          kind: "Job",
          // A Job can't be changed, so a new image makes a new one.
          name: text`svc-migrate-${digest(v.images.services)}`,
          namespace: v.namespaces.control,
          labels: labelsOf(name),
        }),
        spec: {
          // A first installation waits for PostgreSQL and NATS.
          backoffLimit: 20,
          activeDeadlineSeconds: 7200,
          template: { metadata: { labels: labelsOf(name) }, spec: migrationPod(v, name) },
        },
      },
    ],
  };
}

function migrationPod(v: V, name: string): Template {
  const roles: Mount = {
    name: "roles",
    at: "/roles",
    from: {
      secret: {
        secretName: v.secrets.database,
        defaultMode: 0o440,
        items: owners.map((owner) => ({ key: owner, path: owner })),
      },
    },
    readOnly: true,
  };
  const mounts = [configMount, roles, backups, scratch("tmp", "/tmp", "256Mi")];
  const password = "SVC_ADMIN_PASSWORD";
  return jobPod(v, {
    name,
    account: "ops-watchdog",
    restartPolicy: "OnFailure",
    args: ["services/cli/src/main.ts", "migrate", "up"],
    env: [
      { name: "SVC_CONFIG", value: "/config/svc.toml" },
      authoritiesVariable(v),
      secretVariable(password, v.secrets.database, "admin"),
      { name: "SVC_ADMIN_DATABASE_URL", value: databaseUrl(v, text`${v.postgres.adminUser}`, password) },
      { name: "SVC_ROLE_PASSWORDS_FILE", value: "/roles" },
      { name: "SVC_NATS_URL", value: natsUrl(v) },
      { name: "SVC_NATS_USER", value: "migrate" },
      secretVariable("SVC_NATS_PASSWORD", v.secrets.nats, "migrate"),
      { name: "SVC_NATS_REPLICAS", value: text`${v.nats.replicas}` },
    ],
    mounts,
    // The volume of bundles is ops-watchdog's, which most volumes allow on one node only.
    extra: {
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 100,
              podAffinityTerm: {
                topologyKey: "kubernetes.io/hostname",
                labelSelector: { matchLabels: selectorOf("ops-watchdog") },
              },
            },
          ],
        },
      },
    },
  });
}

/** storage starts a run by itself every `storage.reaper_every`; this fixes the time of day, and alerts see a failed Job. */
export function reaperFile(v: V): ObjectFile {
  const name = "reaper";
  const password = "SVC_OPERATOR_PASSWORD";
  return {
    file: "reaper.yaml",
    about: "The daily reaper. A run under way is joined, so storage may start runs by itself too.",
    objects: [
      {
        ...head({
          apiVersion: "batch/v1",
          kind: "CronJob",
          name: "svc-reaper",
          namespace: v.namespaces.control,
          labels: labelsOf(name),
        }),
        spec: {
          schedule: v.reaper.schedule,
          concurrencyPolicy: "Forbid",
          startingDeadlineSeconds: 3600,
          successfulJobsHistoryLimit: 3,
          failedJobsHistoryLimit: 7,
          jobTemplate: {
            spec: {
              backoffLimit: 2,
              activeDeadlineSeconds: 82_800,
              template: {
                metadata: { labels: labelsOf(name) },
                spec: jobPod(v, {
                  name,
                  restartPolicy: "Never",
                  args: ["services/cli/src/main.ts", "reaper"],
                  env: [
                    authoritiesVariable(v),
                    secretVariable(password, v.secrets.nats, "operator"),
                    { name: "SVC_OPERATOR_NATS_URL", value: natsUrlOf(v, "operator", password) },
                  ],
                  mounts: [configMount, scratch("tmp", "/tmp", "64Mi")],
                }),
              },
            },
          },
        },
      },
    ],
  };
}

type JobPod = {
  name: string;
  account?: string;
  restartPolicy: string;
  args: string[];
  env: Template[];
  mounts: readonly Mount[];
  extra?: Record<string, Template>;
};

function jobPod(v: V, { name, account, restartPolicy, args, env, mounts, extra }: JobPod): Template {
  return {
    restartPolicy,
    ...(account && { serviceAccountName: account }),
    automountServiceAccountToken: account !== undefined,
    enableServiceLinks: false,
    priorityClassName: "svc-control-plane",
    imagePullSecrets: v.images.pullSecrets,
    nodeSelector: v.scheduling.nodeSelector,
    tolerations: v.scheduling.tolerations,
    ...extra,
    securityContext: asUser(user),
    containers: [
      {
        name,
        image: v.images.services,
        imagePullPolicy: v.images.pullPolicy,
        args,
        env,
        resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
        securityContext: confined,
        volumeMounts: volumeMountsOf(mounts),
      },
    ],
    volumes: volumesOf(mounts),
  };
}
