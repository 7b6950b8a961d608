// What became of packs since their author looked at them last: shown on the overview until the page of packs, or the notice
// itself, was seen in this browser (docs/reference/submissions.md#notices).

import { type Submission, stageOf } from "./pack-stage.ts";

type NewsKind = "approved" | "rejected" | "ready" | "buildFailed";
export type PackNews = {
  /** Remembered once it was seen. */
  key: string;
  kind: NewsKind;
  name: string;
};

type Told = Pick<
  Submission,
  "id" | "display_name" | "status" | "reviewed_at" | "context_sha256" | "build_status"
>;

const kinds: Partial<Record<ReturnType<typeof stageOf>, NewsKind>> = {
  rejected: "rejected",
  handedOff: "approved",
  queued: "approved",
  building: "approved",
  ready: "ready",
  buildFailed: "buildFailed",
};
/** A browser that knows nothing yet does not tell of last year's packs. */
const freshMs = 14 * 86_400_000;
const mostShown = 3;

function newsIn(pack: Told): PackNews | undefined {
  const kind = kinds[stageOf(pack, false)];
  return kind && { key: `${pack.id} ${kind}`, kind, name: pack.display_name };
}

/** The newest first, as the list has them. Pure. */
export function newsOf(packs: readonly Told[], seen: ReadonlySet<string>, now: number): PackNews[] {
  const fresh = packs.filter(({ reviewed_at = "" }) => now - Date.parse(reviewed_at) < freshMs);
  return fresh
    .flatMap((pack) => newsIn(pack) ?? [])
    .filter(({ key }) => !seen.has(key))
    .slice(0, mostShown);
}

const storageKey = "svc.pack-news";
const mostKept = 200;

export function readSeen(): ReadonlySet<string> {
  return new Set((localStorage.getItem(storageKey) ?? "").split("\n"));
}

export function markSeen(packs: readonly Told[]): void {
  keep(packs.flatMap((pack) => newsIn(pack)?.key ?? []));
}

export function markNewsSeen({ key }: PackNews): void {
  keep([key]);
}

function keep(keys: readonly string[]): void {
  const all = new Set([...readSeen(), ...keys]);
  localStorage.setItem(storageKey, [...all].slice(-mostKept).join("\n"));
}
