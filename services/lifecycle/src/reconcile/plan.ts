import type { Secret, Service, StatefulSet } from "@svc/kube";
import type { MinecraftServerStatus } from "@svc/proto";
import type { Memory } from "./observed.ts";

/** What a pass does to the world, in order. The first that fails ends the pass; it is then tried again. */
export type Effect =
  | { kind: "create-service"; service: Service }
  | { kind: "patch-service"; service: Service }
  | { kind: "create-secret"; secret: Secret }
  | { kind: "write-forwarding-secret"; content: string }
  | { kind: "create-stateful-set"; statefulSet: StatefulSet }
  | { kind: "update-stateful-set"; current: StatefulSet; statefulSet: StatefulSet }
  /** Its claim cannot be changed, so a set at rest makes room for another; worlds are kept (behaviour.md a.5). */
  | { kind: "replace-stateful-set"; current: StatefulSet; statefulSet: StatefulSet }
  | { kind: "scale-down"; resourceVersion: string | undefined }
  | { kind: "delete-pod"; name: string; uid: string | undefined }
  /** Asks for the stop of an idle server; a wake that came meanwhile wins. */
  | { kind: "set-desired-stopped" }
  | { kind: "remove-annotation"; key: string }
  /** Tells the players. When nobody can be told and `unheard` is given, that is the plan. */
  | { kind: "tell-players"; message: Announcement; unheard?: Plan }
  | { kind: "save-world" };

export type Announcement = "stop-soon" | "stop-now" | "stop-cancelled";

export type Note = { type: "Normal" | "Warning"; reason: string; message: string };

/** When the key runs again without anything having changed. A state that waits for time must name it. */
export type Requeue = { afterMs: number } | "on-change";

export type Plan = {
  /** The whole new status. */
  status: MinecraftServerStatus;
  effects: readonly Effect[];
  /** Kubernetes Events besides that of a phase change. */
  notes: readonly Note[];
  requeue: Requeue;
  memory: Memory;
};
