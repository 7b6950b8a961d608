// PostgreSQL as one server. An installation that must outlive a node names one of its own (`postgres.host`).

import { type Template, when } from "../template/expression.ts";
import {
  asUser,
  claimSpec,
  confined,
  head,
  labelsOf,
  type Mount,
  type ObjectFile,
  placement,
  resourcesOf,
  scratch,
  selectorOf,
  type V,
  volumeMountsOf,
  volumesOf,
} from "./common.ts";

const name = "postgres";
/** Account of the image. */
const account = 999;
const dataPath = "/var/lib/postgresql";

export function postgresFile(v: V): ObjectFile {
  return {
    file: "postgres.yaml",
    about: "PostgreSQL, one server.",
    objects: [service(v), statefulSet(v)].map((object) => when(v.postgres.enabled, object)),
  };
}

function service(v: V): Template {
  return {
    ...head({
      apiVersion: "v1",
      kind: "Service",
      name,
      namespace: v.namespaces.control,
      labels: labelsOf(name),
    }),
    spec: {
      selector: selectorOf(name),
      ports: [{ name, port: v.postgres.port, targetPort: name, protocol: "TCP" }],
    },
  };
}

function statefulSet(v: V): Template {
  const { storage } = v.postgres;
  return {
    ...head({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      name,
      namespace: v.namespaces.control,
      labels: labelsOf(name),
    }),
    spec: {
      serviceName: name,
      replicas: 1,
      selector: { matchLabels: selectorOf(name) },
      template: { metadata: { labels: labelsOf(name) }, spec: podSpec(v) },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: claimSpec(storage),
        },
      ],
    },
  };
}

function podSpec(v: V): Template {
  const isReady = {
    exec: { command: ["pg_isready", "--host=127.0.0.1", "--username=postgres"] },
    timeoutSeconds: 5,
  };
  const mounts: Mount[] = [
    {
      name: "admin",
      at: "/admin",
      from: {
        secret: {
          secretName: v.secrets.database,
          defaultMode: 0o440,
          items: [{ key: "admin", path: "password" }],
        },
      },
      readOnly: true,
    },
    scratch("run", "/var/run/postgresql", "16Mi"),
    scratch("tmp", "/tmp", "256Mi"),
  ];
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // A fast shutdown writes a checkpoint first.
    terminationGracePeriodSeconds: 120,
    priorityClassName: "svc-data",
    imagePullSecrets: v.images.pullSecrets,
    ...placement(v, name),
    securityContext: asUser(account),
    containers: [
      {
        name,
        image: v.images.postgres,
        imagePullPolicy: v.images.pullPolicy,
        // Two pods of every service, one more of each during a rolling upgrade.
        args: ["postgres", "-c", "max_connections=300"],
        env: [
          { name: "POSTGRES_USER", value: v.postgres.adminUser },
          { name: "POSTGRES_DB", value: v.postgres.database },
          { name: "POSTGRES_PASSWORD_FILE", value: "/admin/password" },
        ],
        ports: [{ name, containerPort: 5432, protocol: "TCP" }],
        startupProbe: { ...isReady, periodSeconds: 2, failureThreshold: 150 },
        readinessProbe: { ...isReady, periodSeconds: 5 },
        livenessProbe: { ...isReady, periodSeconds: 20, failureThreshold: 6 },
        resources: resourcesOf(v.postgres.resources),
        securityContext: confined,
        volumeMounts: [{ name: "data", mountPath: dataPath }, ...volumeMountsOf(mounts)],
      },
    ],
    volumes: volumesOf(mounts),
  };
}
