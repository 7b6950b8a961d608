// An announcement as somebody types it (docs/reference/announcements.md#operations). Pure.

import type { Input, Output } from "../../api/operations.ts";
import { fieldOf, offsetAt } from "../../words/local-time.ts";
import { decideWindow } from "../updates/window.ts";

export type Announcement = Output<"announcements.list">["announcements"][number];

export const longestText = 256;

export type Draft = {
  kind: "message" | "maintenance";
  en: string;
  zh: string;
  severity: Announcement["severity"];
  /** Local times as a browser writes them; an empty start is now. */
  start: string;
  end: string;
  isPublic: boolean;
};

export const emptyDraft: Draft = {
  kind: "message",
  en: "",
  zh: "",
  severity: "info",
  start: "",
  end: "",
  isPublic: false,
};

export function draftOf(one: Announcement, zone: string): Draft {
  return {
    kind: one.maintenance ? "maintenance" : "message",
    en: one.text.en,
    zh: one.text.zh ?? "",
    severity: one.severity,
    start: fieldOf(one.start, zone),
    end: fieldOf(one.end, zone),
    isPublic: one.public,
  };
}

type Body = Omit<Input<"announcements.create">, "id">;
type Problem = "text" | "end-missing" | "end-not-after";
export type Decided = { body: Body | undefined; problems: readonly Problem[] };

/** `begun`: the start of one that has begun, which stays as it is. */
export function decideDraft(
  draft: Draft,
  { zone, now, begun }: { zone: string; now: number; begun?: string | undefined },
): Decided {
  const nowText = new Date(now + offsetAt(zone, now)).toISOString().slice(0, 19);
  const isFromNow = draft.start === "" || begun !== undefined;
  const { window, problems } = decideWindow(
    { start: isFromNow ? nowText : draft.start, end: draft.end },
    zone,
  );
  const found: Problem[] = [
    ...(draft.en.trim() === "" ? (["text"] as const) : []),
    ...(problems.end === "missing" ? (["end-missing"] as const) : []),
    ...(problems.end === "not-after" ? (["end-not-after"] as const) : []),
  ];
  if (!window || found.length > 0) return { body: undefined, problems: found };
  const zh = draft.zh.trim();
  return {
    problems: [],
    body: {
      text: { en: draft.en.trim(), ...(zh !== "" && { zh }) },
      severity: draft.severity,
      ...(!isFromNow && { start: window.start }),
      end: window.end,
      maintenance: draft.kind === "maintenance",
      public: draft.isPublic,
    },
  };
}
