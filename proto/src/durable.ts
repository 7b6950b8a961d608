// Consumers by name. They are apart from the catalog so that a service which follows one does not load every contract.

import type { ServiceName } from "./caller.ts";

/** Consumers of events that are kept by name: durable, whose stream, which subjects (docs/reference/mesh.md#events). */
export type Durable = {
  name: string;
  service: ServiceName;
  stream: string;
  subjects: readonly string[];
  /** One message at a time, over all replicas: one that has to wait holds up those behind it. */
  inOrder?: boolean;
};
export const durables: readonly Durable[] = [
  { name: "identity-audit", service: "identity", stream: "AUDIT", subjects: ["svc.audit.>"] },
  {
    name: "storage-transfers",
    service: "storage",
    stream: "LIFECYCLE",
    subjects: ["svc.evt.lifecycle.server.transferred.>"],
  },
  {
    name: "storage-clones",
    service: "storage",
    stream: "LIFECYCLE",
    subjects: ["svc.evt.lifecycle.clone.ordered.>"],
  },
  {
    name: "lifecycle-backups",
    service: "lifecycle",
    stream: "STORAGE",
    subjects: ["svc.evt.storage.backup.failed.>"],
  },
  {
    name: "builds-accounts",
    service: "builds",
    stream: "IDENTITY",
    subjects: ["svc.evt.identity.account.retired.>"],
  },
  {
    name: "ops-watchdog-servers",
    service: "ops-watchdog",
    stream: "LIFECYCLE",
    subjects: [
      "svc.evt.lifecycle.server.phase-changed.>",
      "svc.evt.lifecycle.server.player-joined.>",
      "svc.evt.lifecycle.server.player-left.>",
      "svc.evt.lifecycle.server.claimed.>",
      "svc.evt.lifecycle.server.transferred.>",
      "svc.evt.lifecycle.server.released.>",
      "svc.evt.lifecycle.crash.recorded.>",
      "svc.evt.lifecycle.schedule.run-finished.>",
    ],
    inOrder: true,
  },
  {
    name: "ops-watchdog-worlds",
    service: "ops-watchdog",
    stream: "STORAGE",
    subjects: [
      "svc.evt.storage.backup.made.>",
      "svc.evt.storage.backup.failed.>",
      "svc.evt.storage.world.restored.>",
      "svc.evt.storage.restore.failed.>",
    ],
    inOrder: true,
  },
  {
    name: "ops-watchdog-builds",
    service: "ops-watchdog",
    stream: "BUILDS",
    subjects: ["svc.evt.builds.build.ended.>"],
    inOrder: true,
  },
];

/** The declaration of a durable consumer. Throws for a name that is not declared. */
export function durableNamed(name: string): Durable {
  const declared = durables.find((durable) => durable.name === name);
  if (!declared) throw new Error(`the durable ${name} is not declared`);
  return declared;
}
