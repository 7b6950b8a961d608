import type { Secret, Service, StatefulSet } from "@svc/kube";
import type { MinecraftServerStatus } from "@svc/proto";
import type { PassMemory } from "./observed.ts";

/** What a pass changes, in order. The first failure ends the pass, which is then retried. */
export type Effect =
  | { kind: "create-service"; service: Service }
  | { kind: "patch-service"; service: Service }
  | { kind: "create-secret"; secret: Secret }
  | { kind: "write-forwarding-secret"; content: string }
  | { kind: "create-stateful-set"; statefulSet: StatefulSet }
  | { kind: "update-stateful-set"; current: StatefulSet; statefulSet: StatefulSet }
  /** Volume claim templates are immutable, so a set at rest is deleted and created again; worlds are kept (docs/reference/server-resource.md#objects). */
  | { kind: "replace-stateful-set"; current: StatefulSet; statefulSet: StatefulSet }
  | { kind: "scale-down"; resourceVersion: string | undefined }
  | { kind: "delete-pod"; name: string; uid: string | undefined }
  /** Asks an idle server to stop; a wake in the meantime wins. */
  | { kind: "set-desired-stopped" }
  | { kind: "remove-annotation"; key: string }
  /** Nobody asked for longer; somebody who does in the meantime wins. */
  | { kind: "end-keep-awake" }
  /** Sends players a message. When it cannot be delivered and `undelivered` is given, that becomes the plan. */
  | { kind: "announce"; message: Announcement; undelivered?: Plan }
  | { kind: "save-world" };

export type Announcement = "stop-soon" | "stop-now" | "stop-cancelled";

export type Note = { type: "Normal" | "Warning"; reason: string; message: string };

/** When the key runs again although nothing has changed. A state that waits for time must name it. */
export type Requeue = { afterMs: number } | "on-change";

export type Plan = {
  /** The whole new status. */
  status: MinecraftServerStatus;
  effects: readonly Effect[];
  /** Kubernetes Events in addition to that of a phase change. */
  notes: readonly Note[];
  requeue: Requeue;
  memory: PassMemory;
};
