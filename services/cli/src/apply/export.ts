// The file of a server as it is. Pure.

import { serverFiles } from "@svc/proto";
import { stringify } from "yaml";
import type { Field, Present } from "./change.ts";
import { settingOf } from "./plan.ts";
import { fileMembersOf, fileRestartOf } from "./sharing.ts";
import { fileTaskOf, settableOf } from "./task.ts";

/** Node and owner are left out: they belong to an installation, and only count when a server is created. */
const exported: readonly Field[] = [
  ...(["displayName", "autostartPolicy", "idleStopSeconds", "image", "memory", "cpu"] as const),
  ...(["storage", "subdomain"] as const),
];

/** A document that changes nothing when it is applied. */
export function documentOf(present: Extract<Present, { kind: "managed" }>): Record<string, unknown> {
  const settings = exported.map((field) => [field, settingOf(field, present)] as const);
  const { tasks, allowlist, restart, members } = present;
  return {
    apiVersion: serverFiles.fileVersion,
    kind: "Server",
    name: present.info.name,
    settings: Object.fromEntries(settings.filter(([, value]) => value !== undefined && value !== "")),
    ...(tasks && { schedules: tasks.stored.map((one) => fileTaskOf(settableOf(one))) }),
    ...(allowlist && {
      allowlist: allowlist.map(({ mc_uuid: player, can_wake: canWake }) => ({ player, canWake })),
    }),
    ...(restart && { restart: fileRestartOf(restart) }),
    ...(members && { members: fileMembersOf(members) }),
  };
}

/** The same as YAML. */
export function yamlOf(document: Record<string, unknown>): string {
  return stringify(document, { lineWidth: 0 }).trimEnd();
}
