// The StatefulSet of a server (docs/reference/server-resource.md#objects).

import { createHash } from "node:crypto";
import type { V1Container, V1EnvVar, V1PodTemplateSpec, V1Probe, V1Volume } from "@kubernetes/client-node";
import type { StatefulSet } from "@svc/kube";
import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import {
  annotation,
  forwardingSecretName,
  gamePort,
  hasRcon,
  label,
  managedLabels,
  namespaceOf,
  rconPort,
  rconSecretRef,
  type Server,
  systemRoleOf,
} from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import { ownerOf } from "./objects.ts";

/** Runs an init step in the platform's image. */
const initCommand = ["node", "services/world-agent/src/init/main.ts"];

type Wanted = {
  server: Server;
  settings: LifecycleSettings;
  /** Password of the RCON Secret; its digest makes the pod restart when the Secret was replaced. */
  password: string | undefined;
  /** The pod gets its forwarding secret as a file. */
  isForwarded?: boolean;
};

const forwardingMount = { name: "forwarding", mountPath: "/run/svc/forwarding", readOnly: true };
const forwardingVariable = "SVC_FORWARDING_SECRET_FILE";
const ownerReadsOnly = 0o400;

/** The StatefulSet that a valid spec asks for, with one replica or none. */
export function statefulSetOf(wanted: Wanted, replicas: 0 | 1): StatefulSet {
  const { server, settings } = wanted;
  const { name } = server.metadata;
  const template = podTemplateOf(wanted);
  const whole = shortDigest(JSON.stringify(template));
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      name,
      namespace: namespaceOf(server),
      labels: managedLabels(name),
      annotations: {
        [annotation.podTemplate]: keptDigestOf(template, { whole, platformImage: settings.platform_image }),
        [annotation.wholePodTemplate]: whole,
      },
      ownerReferences: [ownerOf(server)],
    },
    spec: {
      serviceName: `${name}-hl`,
      replicas,
      selector: { matchLabels: { [label.server]: name } },
      updateStrategy: { type: "RollingUpdate" },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      template,
      ...(server.spec.storage?.claimName ? {} : { volumeClaimTemplates: [worldClaimOf(server, settings)] }),
    },
  };
}

function worldClaimOf(server: Server, settings: LifecycleSettings) {
  const { size, storageClassName } = server.spec.storage ?? {};
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "world", labels: managedLabels(server.metadata.name) },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: size || settings.default_storage } },
      ...(storageClassName && { storageClassName }),
    },
  };
}

function podTemplateOf({ server, settings, password, isForwarded = false }: Wanted): V1PodTemplateSpec {
  const { spec } = server;
  const { name } = server.metadata;
  const role = systemRoleOf(server);
  const graceSeconds = spec.lifecycle?.terminationGracePeriodSeconds || settings.termination_grace / 1_000;
  const volumes = volumesOf(server, isForwarded);
  return {
    metadata: {
      labels: { ...managedLabels(name), ...(role && { [label.systemRole]: role }) },
      ...(password !== undefined && { annotations: { [annotation.rconSecret]: shortDigest(password) } }),
    },
    spec: {
      automountServiceAccountToken: false,
      // Its environment would name every other server of the namespace, with the address.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: graceSeconds,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        fsGroupChangePolicy: "OnRootMismatch",
        seccompProfile: { type: "RuntimeDefault" },
      },
      ...(spec.nodeName && { nodeSelector: { [nodeLabels.identity]: spec.nodeName } }),
      ...(settings.platform_image && { initContainers: initContainersOf(server, settings, isForwarded) }),
      containers: [gameContainerOf(server, settings, isForwarded)],
      ...(volumes.length > 0 && { volumes }),
    },
  };
}

// On a real cluster fsGroup lets the game's own group read the file too; its user could not read it otherwise.
function volumesOf(server: Server, isForwarded: boolean): V1Volume[] {
  const claimName = server.spec.storage?.claimName;
  const secret = { secretName: forwardingSecretName(server), defaultMode: ownerReadsOnly };
  return [
    ...(claimName ? [{ name: "world", persistentVolumeClaim: { claimName } }] : []),
    ...(isForwarded ? [{ name: forwardingMount.name, secret }] : []),
  ];
}

const forwardingEnv = { name: forwardingVariable, value: `${forwardingMount.mountPath}/secret` };

function gameContainerOf(server: Server, settings: LifecycleSettings, isForwarded: boolean): V1Container {
  const { spec } = server;
  const ports = [{ name: "game", containerPort: gamePort, protocol: "TCP" }];
  if (hasRcon(server)) ports.push({ name: "rcon", containerPort: rconPort, protocol: "TCP" });
  const { limits, requests } = spec.resources ?? {};
  return {
    name: "minecraft",
    image: spec.image,
    ...(spec.args?.length && { args: spec.args }),
    env: [...envOf(server), ...(isForwarded ? [forwardingEnv] : [])],
    ports,
    ...((limits || requests) && { resources: { ...(limits && { limits }), ...(requests && { requests }) } }),
    volumeMounts: [{ name: "world", mountPath: "/data" }, ...(isForwarded ? [forwardingMount] : [])],
    ...probesOf(server, settings),
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  };
}

function envOf(server: Server): V1EnvVar[] {
  const { spec } = server;
  const env: V1EnvVar[] = [];
  if (spec.javaMemory) env.push({ name: "JAVA_MEMORY", value: spec.javaMemory });
  if (spec.javaFlags?.length) env.push({ name: "JAVA_FLAGS", value: spec.javaFlags.join(" ") });
  for (const { name, value } of spec.env ?? []) env.push({ name, value: value ?? "" });
  if (hasRcon(server)) {
    env.push({ name: "RCON_PORT", value: String(rconPort) });
    env.push({ name: "RCON_PASSWORD", valueFrom: { secretKeyRef: rconSecretRef(server) } });
  }
  if (server.metadata.name === "login" && systemRoleOf(server) === "login") {
    env.push({
      name: "SVC_SERVICE_TOKEN",
      valueFrom: { secretKeyRef: { name: "limbo-token", key: "token" } },
    });
  }
  return env;
}

// The operator times out slow starts, not the kubelet: the startup probe waits a minute longer than any deadline.
function probesOf(server: Server, settings: LifecycleSettings) {
  const { startup } = server.spec;
  const http = startup?.healthHTTPPort ?? 0;
  const handler: V1Probe =
    http > 0
      ? { httpGet: { port: http, path: startup?.healthHTTPPath || "/healthz" } }
      : { tcpSocket: { port: gamePort } };
  const timeoutSeconds = startup?.timeoutSeconds || settings.startup_timeout / 1_000;
  return {
    startupProbe: {
      ...handler,
      periodSeconds: 1,
      timeoutSeconds: 1,
      failureThreshold: Math.ceil(timeoutSeconds) + 61,
    },
    readinessProbe: { ...handler, periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 6 },
    livenessProbe: { ...handler, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 6 },
  };
}

function initContainersOf(server: Server, settings: LifecycleSettings, isForwarded: boolean): V1Container[] {
  // The last line of a step that fails says what is wrong; `PodStarted` repeats it.
  const step = {
    image: settings.platform_image,
    command: initCommand,
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
  const readOnly = { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false };
  const data = [{ name: "world", mountPath: "/data" }];
  const prepare: V1Container = {
    name: prepareName,
    ...step,
    args: ["init-volume", "--data", "/data"],
    volumeMounts: data,
    securityContext: { ...readOnly, capabilities: { drop: ["ALL"] } },
  };
  const forwarding: V1Container = {
    name: "init-forwarding",
    ...step,
    args: ["init-forwarding", "--data", "/data"],
    ...(isForwarded && { env: [forwardingEnv] }),
    volumeMounts: [...data, ...(isForwarded ? [forwardingMount] : [])],
    securityContext: { ...readOnly, capabilities: { drop: ["ALL"] } },
  };
  const gate: V1Container = {
    name: "egress-gate",
    ...step,
    args: ["egress-gate", ...egressArgs(settings)],
    securityContext: { ...readOnly, capabilities: { drop: ["ALL"] } },
  };
  return systemRoleOf(server) === "" ? [prepare, forwarding, gate] : [prepare, gate];
}

const failOpen = "--fail-open";
const prepareName = "prepare-data";
const preparedAsRoot = {
  ...{ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, runAsUser: 0, runAsNonRoot: false },
  capabilities: { drop: ["ALL"], add: ["CHOWN", "DAC_OVERRIDE"] },
};
const isContainer = (value: unknown): value is V1Container =>
  typeof value === "object" && value !== null && "volumeMounts" in value;

function egressArgs(settings: LifecycleSettings): string[] {
  const args = ["--wait", `${settings.egress_wait / 1_000}s`];
  if (settings.egress_fail_open) args.push(failOpen);
  if (settings.egress_positive_probe) args.push("--positive-probe", settings.egress_positive_probe);
  if (settings.egress_probe) args.push("--probe", settings.egress_probe);
  return args;
}

function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Digests by that of the whole template: a pass that changes nothing need not go through it again. */
const keptDigests = new Map<string, string>();
const mostKeptDigests = 20_000;

function keptDigestOf(
  template: V1PodTemplateSpec,
  { whole, platformImage }: { whole: string; platformImage: string },
): string {
  const key = `${whole} ${platformImage}`;
  const kept = keptDigests.get(key);
  if (kept !== undefined) return kept;
  if (keptDigests.size >= mostKeptDigests) keptDigests.clear();
  const digest = digestOf(template, platformImage);
  keptDigests.set(key, digest);
  return digest;
}

const forNextStart: ReadonlySet<string> = new Set(["terminationMessagePolicy", "enableServiceLinks"]);

function oldSelectorOf({ [nodeLabels.identity]: identity, ...others }: Record<string, string>) {
  return { ...others, [oldNodeLabels.identity]: identity };
}

// Without what may wait for the next start: the platform's own image, what its gate does when it fails, and what came with this
// release. A change of these, by an upgrade too, does not restart running servers.
function digestOf(template: V1PodTemplateSpec, platformImage: string): string {
  const text = JSON.stringify(template, (key, value: unknown) => {
    if (forNextStart.has(key)) return undefined;
    // As the last release wrote them.
    if (key === "nodeSelector") return oldSelectorOf(value as Record<string, string>);
    if (Array.isArray(value) && value[0] === "egress-gate")
      return value.includes(failOpen) ? value : value.toSpliced(3, 0, failOpen);
    if (isContainer(value) && value.name === prepareName)
      return { ...value, securityContext: preparedAsRoot };
    return key === "image" && platformImage !== "" && value === platformImage ? "" : value;
  });
  return shortDigest(text);
}
