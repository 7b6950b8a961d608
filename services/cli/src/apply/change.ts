// What a file wants, what there is, and the changes between them (docs/reference/apply.md#plan).

import type {
  Grant,
  members,
  ownership,
  restartPolicies,
  ServerInfo,
  schedules,
  serverFiles,
} from "@svc/proto";
import type { Task } from "./task.ts";

/** A server as the operations show it; lists that the file does not name are not read. */
export type Present =
  | { kind: "absent" }
  /** There, but neither the caller's nor shown to operators. */
  | { kind: "foreign" }
  | {
      kind: "managed";
      info: ServerInfo;
      isOwned: boolean;
      tasks?: { stored: readonly schedules.Schedule[]; limit: number } | undefined;
      allowlist?: readonly ownership.AllowlistEntry[] | undefined;
      restart?: restartPolicies.RestartPolicy | undefined;
      members?: readonly members.Member[] | undefined;
    };

export type Caller = { isOperator: boolean };
export type Options = { prune: boolean };

export type Settings = serverFiles.FileSettings;
export type Field = keyof Settings;
export type Value = string | number;
type FieldChange = { field: string; from: string; to: string };

export type Change = { server: string } & (
  | { kind: "create-server"; settings: Settings }
  | {
      kind: "change-settings";
      settings: Settings;
      fields: FieldChange[];
      restarts: boolean;
      converts: boolean;
    }
  | { kind: "create-task"; task: Task }
  | { kind: "change-task"; id: number; task: Task; before: Task }
  | { kind: "delete-task"; id: number; before: Task }
  | { kind: "change-allowlist"; player: string; canWake: boolean }
  | { kind: "change-restart"; policy: restartPolicies.RestartPolicy; before: restartPolicies.RestartPolicy }
  | { kind: "change-member"; id: string; user: string; grant: Grant; before: Grant }
  | { kind: "remove-member"; id: string; user: string }
);

export type Plan = {
  changes: Change[];
  /** Why nothing of it can be done; empty when it can. */
  refusals: string[];
  /** What stays although the file does not have it. */
  kept: string[];
};

export type Wanted = serverFiles.ServerFile;
