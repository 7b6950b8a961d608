// What staff do with announcements (docs/reference/announcements.md#operations). Each change and its audit entry commit together.

import { randomBytes } from "node:crypto";
import { auditActor, type Context, type Handler } from "@svc/mesh";
import { type AnyContract, type announcements as contracts, Fault } from "@svc/proto";
import { type AnnouncementRow, toStaffAnnouncement } from "./row.ts";
import { problemOf, stateOf } from "./rules.ts";
import type { AnnouncementStore } from "./store.ts";

export type ManageDeps = {
  announcements: AnnouncementStore;
  /** How many may be planned or current. */
  limit: number;
  now: () => number;
  onChange: () => void;
};

export const list =
  ({ announcements, limit, now }: ManageDeps): Handler<typeof contracts.list> =>
  async () => {
    const at = now();
    const rows = await announcements.list(new Date(at));
    return { announcements: rows.map((row) => toStaffAnnouncement(row, at)), limit };
  };

export const create =
  (deps: ManageDeps): Handler<typeof contracts.create> =>
  async (context, { id = `ann-${randomBytes(9).toString("hex")}`, ...given }) => {
    const { announcements, limit, now } = deps;
    const at = now();
    const row: AnnouncementRow = {
      id,
      ...columnsOf(given, { now: at }),
      ended_at: null,
      ...{ created_by: byOf(context), created_at: new Date(at), changed_by: null, changed_at: null },
    };
    const audit = auditOf(context, "announcement.create", row);
    const made = await announcements.insert(row, { now: new Date(at), limit, audit });
    if (!made.isNew && !isSame(made.row, row, given)) throw context.fault("announcement_exists");
    deps.onChange();
    // Another request with this id may have begun it after this one arrived.
    return toStaffAnnouncement(made.row, now());
  };

export const change =
  (deps: ManageDeps): Handler<typeof contracts.change> =>
  async (context, { id, ...given }) => {
    const at = deps.now();
    const changed = await deps.announcements.change(id, (row) => {
      const state = stateOf(row, at);
      if (state === "over") throw context.fault("announcement_over");
      const was = row.starts_at.getTime();
      const next = columnsOf(given, { now: at, was, begun: state === "current" ? was : undefined });
      const by = { changed_by: byOf(context), changed_at: new Date(at) };
      const audit = auditOf(context, "announcement.change", { ...row, ...next });
      return { change: { ...next, ...by }, audit };
    });
    deps.onChange();
    return toStaffAnnouncement(changed, at);
  };

export const end =
  (deps: ManageDeps): Handler<typeof contracts.end> =>
  async (context, { id }) => {
    const at = deps.now();
    const ended = await deps.announcements.change(id, (row) => {
      if (stateOf(row, at) === "over") return undefined;
      const by = { changed_by: byOf(context), changed_at: new Date(at) };
      return {
        change: { ended_at: new Date(at), ...by },
        audit: auditOf(context, "announcement.end", row),
      };
    });
    deps.onChange();
    return toStaffAnnouncement(ended, at);
  };

type Given = {
  text: contracts.AnnouncementText;
  severity: contracts.Severity;
  start?: string | undefined;
  end: string;
  maintenance: boolean;
  public: boolean;
};

/** Throws `bad_announcement`. `was`: its start until now; `begun`: the same, of one that has begun. */
function columnsOf(
  { text, severity, start, end: until, maintenance, ...given }: Given,
  about: { now: number; was?: number; begun?: number | undefined },
) {
  const from = start === undefined ? (about.was ?? about.now) : Date.parse(start);
  const range = { start: from, end: Date.parse(until), maintenance };
  const problem = problemOf(range, about);
  if (problem !== undefined) throw new Fault("bad_announcement", { message: problem });
  const times = { starts_at: new Date(range.start), ends_at: new Date(range.end) };
  const words = { text_en: text.en, text_zh: text.zh ?? null };
  return { ...words, severity, ...times, maintenance, public: given.public };
}

/** Whether a request with an id that is taken repeats the one that took it. */
function isSame(there: AnnouncementRow, row: AnnouncementRow, { start }: Given): boolean {
  const keys = ["text_en", "text_zh", "severity", "maintenance", "public"] as const;
  const isStart = start === undefined || there.starts_at.getTime() === row.starts_at.getTime();
  const isEnd = there.ends_at.getTime() === row.ends_at.getTime();
  return isStart && isEnd && keys.every((key) => there[key] === row[key]);
}

function byOf({ principal }: Context<AnyContract>): string {
  if (principal.kind !== "account") throw new Fault("forbidden");
  return principal.username;
}

function auditOf(context: Context<AnyContract>, action: string, row: AnnouncementRow) {
  const { id, maintenance, text_en: text } = row;
  const range = { start: row.starts_at.toISOString(), end: row.ends_at.toISOString() };
  return { ...auditActor(context), action, payload: { id, maintenance, ...range, text } };
}
