// Update reports and the update window (docs/reference/updates.md#report). svc applies no update by itself.
// Vocabulary: component = something that an operator updates; feed = a document that lists its released versions.

import { z } from "zod";
import { operation } from "../contract.ts";
import { Timestamp } from "../text.ts";

const path = "/api/v1/updates/window";

/** When updates may be applied; both null means unset. */
export const UpdateWindow = z.strictObject({
  /** Inclusive. */
  start: Timestamp.nullable(),
  /** Exclusive, after `start`. */
  end: Timestamp.nullable(),
});
export type UpdateWindow = z.output<typeof UpdateWindow>;

const ComponentState = z.enum(["current", "available", "unknown", "unreadable", "pinned"]);

/** One component of an update report. */
export const UpdateComponent = z.strictObject({
  name: z.string(),
  /** `unknown`: its feed is missing or cannot be read; `unreadable`: its installed version cannot be read. */
  state: ComponentState,
  current: z.string().optional(),
  /** Only when `available`. */
  latest: z.string().optional(),
  /** Flag of `svc update` that prints how to apply it. */
  selector: z.string().optional(),
  note: z.string().optional(),
  error: z.string().optional(),
});
export type UpdateComponent = z.output<typeof UpdateComponent>;

/** What a check of all components found. */
export const UpdateCheck = z.strictObject({
  checked_at: Timestamp,
  /** Version of svc that checked. */
  version: z.string(),
  components: z.array(UpdateComponent),
});
export type UpdateCheck = z.output<typeof UpdateCheck>;

export const readWindow = operation({
  subject: "ops-watchdog.update.read-window",
  http: { method: "GET", path, face: "external", tier: "admin" },
  output: UpdateWindow,
  summary: "The update window, both ends null when there is none.",
  spec: "docs/reference/updates.md#window",
});

export const writeWindow = operation({
  subject: "ops-watchdog.update.write-window",
  http: { method: "PUT", path, face: "external", tier: "admin" },
  body: UpdateWindow.shape,
  output: UpdateWindow,
  onceById: true,
  summary:
    "Sets the update window, or clears it with both ends null. Advisory: nothing is applied by itself.",
  spec: "docs/reference/updates.md#window",
});

export const readReport = operation({
  subject: "ops-watchdog.update.read-report",
  http: { method: "GET", path: "/api/v1/updates/report", face: "external", tier: "admin" },
  output: z.strictObject({
    report: UpdateCheck.nullable(),
    /** No report, or the newest is older than the limit. */
    stale: z.boolean(),
    max_age_seconds: z.number().int(),
  }),
  summary: "The newest update report and whether it is stale.",
  spec: "docs/reference/updates.md#report",
});
