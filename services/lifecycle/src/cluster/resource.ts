// The kind MinecraftServer, its labels and annotations (docs/reference/server-resource.md#kind).

import { type KubeObject, type ObjectMeta, resource } from "@svc/kube";
import {
  MinecraftServer,
  type MinecraftServerSpec,
  type MinecraftServerStatus,
  restartPolicies,
} from "@svc/proto";

export type Server = KubeObject & {
  metadata: ObjectMeta;
  spec: MinecraftServerSpec;
  status?: MinecraftServerStatus;
};

export const servers = resource<Server>({
  group: MinecraftServer.group,
  version: MinecraftServer.version,
  plural: MinecraftServer.plural,
  kind: MinecraftServer.kind,
  namespaced: true,
});

const prefix = MinecraftServer.group;

export const label = {
  server: `${prefix}/server`,
  managedBy: `${prefix}/managed-by`,
  component: `${prefix}/component`,
  systemRole: `${prefix}/system-role`,
  forwarding: `${prefix}/forwarding`,
  filesMode: `${prefix}/files-mode`,
  nodeOnline: `${prefix}/node-online`,
} as const;

export const annotation = {
  maintenance: `${prefix}/maintenance`,
  startRetry: `${prefix}/start-retry`,
  /** Requests a new pod for a Running server; the value is the time of the request. */
  restart: `${prefix}/restart`,
  /** Written by the replica that took a join report, so that the leader counts players at once. */
  countRequested: `${prefix}/count-requested`,
  rconSecret: `${prefix}/rcon-secret`,
  podTemplate: `${prefix}/pod-template`,
  wholePodTemplate: `${prefix}/whole-pod-template`,
  /** The run of a group that asked it last to start or stop. */
  groupRun: `${prefix}/group-run`,
  /** The order by which a clone gets its world. */
  clone: `${prefix}/clone`,
  /** The account that made it for itself, for an object whose rows were not recorded. */
  createdBy: `${prefix}/created-by`,
  /** Whether it was created as offered, for an object whose rows were not recorded. */
  offered: `${prefix}/offered`,
} as const;

export const operatorName = "svc-operator";
export const gamePort = 25_565;
export const rconPort = 25_575;

/** Labels of every object that is created for a server. */
export function managedLabels(name: string): Record<string, string> {
  return { [label.server]: name, [label.managedBy]: operatorName, [label.component]: "server" };
}

export function namespaceOf(server: Server): string {
  return server.metadata.namespace ?? "default";
}

/** `login`, `lobby` or empty for a user's server. */
export function systemRoleOf(server: Server): string {
  return server.metadata.labels?.[label.systemRole] ?? "";
}

/** Whether players may claim it while it has no owner; a server created without this service is offered. */
export function isOffered({ metadata }: Server): boolean {
  return metadata.annotations?.[annotation.offered] !== "false";
}

export function hasRcon(server: Server): boolean {
  return server.spec.rcon?.enabled === true;
}

export function wantsToRun(server: Server): boolean {
  return server.spec.desiredState === "Running";
}

/** Milliseconds that a server may sit empty; 0 when it never idles out (docs/reference/server-states.md#view). */
export function idleLimitMs(server: Server): number {
  const { idle } = server.spec;
  if (systemRoleOf(server) !== "" || !idle?.autoStopEnabled || !hasRcon(server)) return 0;
  return (idle.emptySecondsBeforeStop ?? 0) * 1_000;
}

/** What svc does by itself when the server crashes or hangs (docs/reference/crashes.md#policy). */
export function restartPolicyOf({ spec }: Server): restartPolicies.RestartPolicy {
  const { afterCrash, whenHung, silentMinutes } = spec.restart ?? {};
  const { after_crash, when_hung, silent_minutes } = restartPolicies.defaultRestartPolicy;
  return {
    after_crash: afterCrash ?? after_crash,
    when_hung: whenHung ?? when_hung,
    silent_minutes: silentMinutes ?? silent_minutes,
  };
}

/** Secret and key of the RCON password; the operator creates the Secret when it is missing. */
export function rconSecretRef(server: Server): { name: string; key: string } {
  return server.spec.rcon?.secretRef ?? { name: `${server.metadata.name}-rcon`, key: "password" };
}

/** The Secret with the server's forwarding secret. */
export function forwardingSecretName(server: Server): string {
  return `${server.metadata.name}-forwarding`;
}

/** Name of the claim that holds the world. */
export function worldClaimName(server: Server): string {
  return server.spec.storage?.claimName ?? `world-${server.metadata.name}-0`;
}
