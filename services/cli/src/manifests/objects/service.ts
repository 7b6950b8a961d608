// A service of the control plane: its Deployment, its Service and its disruption budget.

import { lines, type Refs, type Template, type When, when } from "../template/expression.ts";
import { databaseUrl, natsUrl } from "./addresses.ts";
import {
  asUser,
  confined,
  head,
  healthPort,
  healthPorts,
  healthVariables,
  labelsOf,
  type Mount,
  placement,
  probes,
  resourcesOf,
  scratch,
  secretVariable,
  selectorOf,
  user,
  type V,
  volumeMountsOf,
  volumesOf,
} from "./common.ts";
import { authoritiesVariable, configAnnotations, configMount } from "./config.ts";

type Sized = Refs<{ resources: { cpu: string; memory: string; memoryLimit: string }; secretEnv: string }>;

type ServiceOptions = {
  name: string;
  sized: Sized;
  replicas: Template;
  /** Whether it uses the Kubernetes API. */
  account?: boolean;
  hasDatabase?: boolean;
  env?: readonly Template[];
  ports?: readonly { name: string; containerPort: number; protocol: string }[];
  /** Of /tmp; 256Mi without it. */
  tmpSize?: string;
  mounts?: readonly Mount[];
  /** Time that it gets to finish what it does. */
  graceSeconds: number;
  /** Clients that do not retry: the pod stops accepting them only once it is out of every Service. */
  drains?: boolean;
  /** Its volume can be mounted by one pod at a time. */
  isReplacedFirst?: boolean;
};

const scraped = {
  "prometheus.io/scrape": "true",
  "prometheus.io/port": String(healthPort),
  "prometheus.io/path": "/metrics",
};

/** Where Prometheus finds the metrics of a pod. */
export function scrapeAnnotations(v: V): When {
  return when(v.monitoring.annotations, scraped);
}

function annotationsOf(v: V): Template {
  const entries = Object.entries(scraped).map(([key, value]) => [key, when(v.monitoring.annotations, value)]);
  return { ...configAnnotations(v), ...Object.fromEntries(entries) };
}

export function serviceObjects(v: V, options: ServiceOptions): Template[] {
  return [deploymentOf(v, options), disruptionBudget(v, options.name)];
}

/** A drain takes one pod at a time, and the only pod too, so that it never stands still. */
export function disruptionBudget(v: V, name: string): When {
  return when(v.podDisruptionBudgets, {
    ...head({ apiVersion: "policy/v1", kind: "PodDisruptionBudget", name, namespace: v.namespaces.control }),
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name) } },
  });
}

function deploymentOf(v: V, options: ServiceOptions): Template {
  const { name, replicas, isReplacedFirst } = options;
  return {
    ...head({
      apiVersion: "apps/v1",
      kind: "Deployment",
      name,
      namespace: v.namespaces.control,
      labels: labelsOf(name),
    }),
    spec: {
      replicas,
      // The old pods go on until the new ones are ready, so a release that does not start changes nothing.
      strategy: isReplacedFirst
        ? { type: "Recreate" }
        : { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: selectorOf(name) },
      template: {
        metadata: {
          labels: labelsOf(name),
          annotations: annotationsOf(v),
        },
        spec: podSpecOf(v, options),
      },
    },
  };
}

function podSpecOf(v: V, options: ServiceOptions) {
  const { name, account = false, graceSeconds } = options;
  const mounts = [configMount, scratch("tmp", "/tmp", options.tmpSize ?? "256Mi"), ...(options.mounts ?? [])];
  return {
    ...(account && { serviceAccountName: name }),
    automountServiceAccountToken: account,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: graceSeconds,
    priorityClassName: "svc-control-plane",
    imagePullSecrets: v.images.pullSecrets,
    ...placement(v, name),
    securityContext: asUser(user),
    containers: [containerOf(v, options, mounts)],
    volumes: volumesOf(mounts),
  };
}

function containerOf(v: V, options: ServiceOptions, mounts: readonly Mount[]) {
  const { name, sized, ports = [], drains } = options;
  return {
    name,
    image: v.images.services,
    imagePullPolicy: v.images.pullPolicy,
    args: [`services/${name}/src/main.ts`],
    env: [...meshVariables(v, name), ...databaseVariables(v, options), ...(options.env ?? [])],
    envFrom: when(sized.secretEnv, [{ secretRef: { name: sized.secretEnv } }]),
    ports: [...ports, ...healthPorts],
    ...probes,
    ...(drains && { lifecycle: { preStop: { exec: { command: ["sleep", "5"] } } } }),
    resources: resourcesOf(sized.resources),
    securityContext: confined,
    volumeMounts: volumeMountsOf(mounts),
  };
}

function meshVariables(v: V, name: string): Template[] {
  return [
    { name: "SVC_CONFIG", value: "/config/svc.toml" },
    when(v.settings, { name: "SVC_SET", value: lines(v.settings) }),
    authoritiesVariable(v),
    { name: "SVC_NATS_URL", value: natsUrl(v) },
    { name: "SVC_NATS_USER", value: name },
    secretVariable("SVC_NATS_PASSWORD", v.secrets.nats, name),
    ...healthVariables,
    when(v.tracing.endpoint, { name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: v.tracing.endpoint }),
    when(v.tracing.endpoint, { name: "OTEL_TRACES_SAMPLER_ARG", value: v.tracing.share }),
    // Gateways exchange bytes with this very pod.
    { name: "SVC_LANE_HOST", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
  ];
}

function databaseVariables(v: V, { name, hasDatabase }: ServiceOptions): Template[] {
  if (!hasDatabase) return [];
  const variable = "SVC_DATABASE_PASSWORD";
  return [
    secretVariable(variable, v.secrets.database, name),
    { name: "SVC_DATABASE_URL", value: databaseUrl(v, `svc_${name.replaceAll("-", "_")}`, variable) },
  ];
}

/** The Service of a face. */
export function faceService(
  v: V,
  { name, port, extra = {} }: { name: string; port: number; extra?: Record<string, Template> },
): Template {
  const annotations = extra["annotations"];
  const { annotations: _, ...spec } = extra;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name,
      namespace: v.namespaces.control,
      labels: labelsOf(name),
      ...(annotations !== undefined && { annotations }),
    },
    spec: {
      ...spec,
      selector: selectorOf(name),
      ports: [{ name: "http", port, targetPort: "http", protocol: "TCP" }],
    },
  };
}
