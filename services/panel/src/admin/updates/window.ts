// The update window as somebody types it, in the time of their zone (docs/reference/updates.md#window). Pure.

import type { Output } from "../../api/operations.ts";
import { fieldOf, type Moment, momentOfField } from "../../words/local-time.ts";

export type UpdateWindow = Output<"updates.readWindow">;

/** Local times as a browser writes them, `2026-11-23T02:00`; empty when not whole. */
export type WindowDraft = { start: string; end: string };
type WindowProblem = "missing" | "not-after";
type DraftedWindow = {
  /** Undefined while something is wrong. */
  window: { start: string; end: string } | undefined;
  problems: Partial<Record<keyof WindowDraft, WindowProblem>>;
  /** Where a clock change skips or doubles the time that was typed. */
  changes: Partial<Record<keyof WindowDraft, NonNullable<Moment["change"]>>>;
};

/** What a draft comes to in a zone. */
export function decideWindow(draft: WindowDraft, zone: string): DraftedWindow {
  const [start, end] = [momentOfField(draft.start, zone), momentOfField(draft.end, zone)];
  const problems: DraftedWindow["problems"] = {
    ...(!start && { start: "missing" }),
    ...(!end && { end: "missing" }),
    ...(start && end && end.at <= start.at && { end: "not-after" }),
  };
  const isWhole = start && end && Object.keys(problems).length === 0;
  return {
    window: isWhole
      ? { start: new Date(start.at).toISOString(), end: new Date(end.at).toISOString() }
      : undefined,
    problems,
    changes: { ...(start?.change && { start: start.change }), ...(end?.change && { end: end.change }) },
  };
}

/** The window that is set, as a draft to change it. */
export function draftOf({ start, end }: UpdateWindow, zone: string): WindowDraft {
  const localOf = (at: string | null) => (at === null ? "" : fieldOf(at, zone));
  return { start: localOf(start), end: localOf(end) };
}

export type WindowState = "none" | "planned" | "open" | "over";

/** Where a window stands; it includes its start and not its end. */
export function stateOfWindow({ start, end }: UpdateWindow, now: number): WindowState {
  if (start === null || end === null) return "none";
  if (now < Date.parse(start)) return "planned";
  return now < Date.parse(end) ? "open" : "over";
}
