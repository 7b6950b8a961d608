// The fields, annotation and labels that the lock reads and writes (docs/reference/server-resource.md#labels).

import { type KubeObject, type ObjectMeta, resource } from "@svc/kube";
import { MinecraftServer, type MinecraftServerSpec, type MinecraftServerStatus } from "@svc/proto";

/** The part of a server's object that the lock reads. */
export type LockedServer = KubeObject & {
  metadata: ObjectMeta;
  spec: Pick<MinecraftServerSpec, "desiredState">;
  status?: Pick<MinecraftServerStatus, "phase">;
};

/** The kind MinecraftServer, typed for the lock. */
export const lockedServers = resource<LockedServer>({
  group: MinecraftServer.group,
  version: MinecraftServer.version,
  plural: MinecraftServer.plural,
  kind: MinecraftServer.kind,
  namespaced: true,
});

const prefix = MinecraftServer.group;

/** Annotation of a server: `<kind>@<RFC 3339 time>`. */
export const maintenanceAnnotation = `${prefix}/maintenance`;

/** Labels of the Jobs that work on a world. */
export const worldJobLabels = {
  /** Name of the server whose world it is. */
  server: `${prefix}/server`,
  /** `svc-restore`, `svc-backup`, `svc-files` or `svc-export`. */
  managedBy: "app.kubernetes.io/managed-by",
  /** What a files Job does; one that only reads does not hold the world. */
  filesMode: `${prefix}/files-mode`,
  /** `pending` on a safety snapshot until its restore has begun; it holds the world even when finished. */
  thenRestore: `${prefix}/then-restore`,
} as const;
