// How the off-site copies stand (docs/reference/off-site.md#status). Pure.

import type { Output } from "../../api/operations.ts";
import type { StatusLook } from "../../ui/status.tsx";

export type OffsiteStatus = Output<"offsites.readOffsite">;
export type KindCopies = Omit<OffsiteStatus["kinds"][number], "kind">;
export type OffsitePacked = NonNullable<KindCopies["packed"]>;
export type OffsitePass = NonNullable<OffsiteStatus["last"]>;

/** What somebody has to do about off-site copies, the worst first. */
export type OffsiteProblem =
  | "not-configured"
  | "wrong-key"
  | "standby"
  | "never"
  | "stale"
  | "failed"
  | "incomplete"
  | "damaged";

export function offsiteProblemsOf({
  configured,
  last,
  last_completed_at,
  stale,
  damaged = [],
}: OffsiteStatus): OffsiteProblem[] {
  if (!configured) return ["not-configured"];
  if (last?.state === "wrong_key") return ["wrong-key"];
  // Another installation writes: how old its copies are is its business.
  if (last?.state === "standby") return ["standby"];
  return [
    ...(stale ? [last_completed_at === undefined ? ("never" as const) : ("stale" as const)] : []),
    ...(last?.state === "failed" ? ["failed" as const] : []),
    ...(last?.state === "incomplete" ? ["incomplete" as const] : []),
    ...(damaged.length > 0 ? ["damaged" as const] : []),
  ];
}

/** The command of the host that helps; another one is read about in the documents. */
export const offsiteCommandOf: Partial<Record<OffsiteProblem, string>> = {
  "not-configured": "svc offsite keygen",
  "wrong-key": "svc offsite check-key",
  standby: "svc offsite status",
  never: "svc offsite sync",
  stale: "svc offsite sync",
  failed: "svc offsite sync",
  incomplete: "svc offsite sync",
  damaged: "svc offsite verify",
};

export const lookOfPass: Record<OffsitePass["state"], StatusLook> = {
  running: "starting",
  completed: "running",
  incomplete: "failed",
  failed: "failed",
  standby: "asleep",
  wrong_key: "failed",
};

type CopiesView = { whole: number; wanted: number; look: StatusLook };

/**
 * Of what should be in the bucket, what is there whole. A copy of another size is counted as there and as not whole; packs
 * are no copies of their own, unlike the manifest of each archive in them.
 */
export function viewOfCopies({ objects, missing_count, not_whole_count, packed }: KindCopies): CopiesView {
  const copies = objects - (packed?.packs ?? 0);
  const whole = Math.max(0, copies - not_whole_count);
  const wanted = copies + missing_count;
  return { whole, wanted, look: whole === wanted ? "running" : "failed" };
}

/** Bytes that packs save over whole copies; 0 while they cost more, as those of the first archives of a world do. */
export function savedByPacks({ whole_bytes, bytes }: OffsitePacked): number {
  return Math.max(0, whole_bytes - bytes);
}
