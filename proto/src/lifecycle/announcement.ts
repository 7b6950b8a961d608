// Announcements of staff, and maintenance windows in which nothing is woken (docs/reference/announcements.md).
// Vocabulary: announcement = a text that is shown for a range of time; maintenance = an announcement whose range is a
// maintenance window; planned, current, over = before, in and after its range.

import { z } from "zod";
import { cursor, operation, page } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { view } from "../view.ts";

/** Announcements that may be planned or current, whatever the setting says. */
export const mostOpen = 100;
/** Characters of a text in one language. */
export const longestText = 256;
/** Milliseconds: an announcement may begin so far ahead, and last so long; a maintenance window lasts less. */
export const furthestAheadMs = 366 * 24 * 60 * 60_000;
export const longestRangeMs = 90 * 24 * 60 * 60_000;
export const longestWindowMs = 7 * 24 * 60 * 60_000;

// What the game and a page show as one line: no control characters, and none that hide or turn what stands around them.
const hidden = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff§]/u;
const line = z
  .string()
  .trim()
  .min(1)
  .max(longestText)
  .refine((text) => !hidden.test(text), "must be one line without control or formatting characters");

export const AnnouncementText = z.strictObject({
  en: line,
  /** Readers of Chinese get the English text without it. */
  zh: line.optional(),
});
export type AnnouncementText = z.output<typeof AnnouncementText>;

export const Severity = z.enum(["info", "warning"]);
export type Severity = z.output<typeof Severity>;

export const State = z.enum(["planned", "current", "over"]);
export type State = z.output<typeof State>;

/** As everybody may read it. */
export const Announcement = z.strictObject({
  id: z.string(),
  text: z.strictObject({ en: z.string(), zh: z.string().optional() }),
  severity: Severity,
  /** Inclusive. */
  start: Timestamp,
  /** Exclusive, after `start`. */
  end: Timestamp,
  /** Nothing is woken between start and end. */
  maintenance: z.boolean(),
  /** Also shown to people who are not signed in. */
  public: z.boolean(),
});
export type Announcement = z.output<typeof Announcement>;

/** As staff see it. */
export const StaffAnnouncement = Announcement.extend({
  state: State,
  /** It was ended before its time. */
  ended: z.boolean(),
  created_by: z.string(),
  created_at: Timestamp,
  /** User name of who changed it last, and when; absent when nobody did. */
  changed_by: z.string().optional(),
  changed_at: Timestamp.optional(),
  /** Servers whose players were told in the game. */
  servers_told: z.int(),
});
export type StaffAnnouncement = z.output<typeof StaffAnnouncement>;

/** What people are shown: current announcements, and maintenance from a day before it begins. Keyed by id. */
export const shown = view({
  name: "announcements",
  owner: "lifecycle",
  value: Announcement,
  readers: ["gateway-internal", "gateway-external"],
  summary: "Announcements that are current, and maintenance windows from a day before they begin.",
});
/** Those of them that people see without signing in. */
export const shownToAll = view({
  name: "public-announcements",
  owner: "lifecycle",
  value: Announcement,
  readers: ["gateway-external"],
  summary: "Announcements that are shown without signing in.",
});

const spec = "docs/reference/announcements.md#operations";
const reading = { collect: "announcements" } as const;
const shownSpec = "docs/reference/announcements.md#shown";

export const listShown = operation({
  subject: "lifecycle.announcement.list-shown",
  http: {
    ...{ method: "GET", path: "/api/v1/announcements", face: "external", tier: "app" },
    ...reading,
    view: { of: shown, as: "list" },
  },
  query: cursor,
  output: page(Announcement),
  summary: "What is announced now, and maintenance that begins within a day.",
  spec: shownSpec,
});

export const listPublic = operation({
  subject: "lifecycle.announcement.list-public",
  http: {
    ...{ method: "GET", path: "/api/v1/announcements/public", face: "external", tier: "public" },
    ...reading,
    view: { of: shownToAll, as: "list" },
  },
  query: cursor,
  output: page(Announcement),
  summary: "What is announced to everybody, signed in or not.",
  spec: shownSpec,
});

export const listForProxy = operation({
  subject: "lifecycle.announcement.list-for-proxy",
  http: {
    ...{ method: "GET", path: "/api/v1/internal/announcements", face: "internal", tier: "service" },
    callers: ["velocity", "limbo"],
    ...reading,
    view: { of: shown, as: "list" },
  },
  query: cursor,
  output: page(Announcement),
  summary: "What is announced now, and maintenance that begins within a day, for players in the game.",
  spec: shownSpec,
});

const staff = { face: "external", tier: "admin" } as const;
const path = "/api/v1/platform/announcements";
const one = `${path}/{id}` as const;
const id = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, "must be 1 to 64 of a-z, 0-9 and -");
const given = {
  text: AnnouncementText,
  severity: Severity.default("info"),
  /** Default: now, or as it was. */
  start: Timestamp.optional(),
  end: Timestamp,
  maintenance: z.boolean().default(false),
  public: z.boolean().default(false),
};

export const list = operation({
  subject: "lifecycle.announcement.list",
  http: { ...staff, method: "GET", path },
  output: z.strictObject({
    /** Planned and current ones, then the newest of those that are over. */
    announcements: z.array(StaffAnnouncement),
    /** How many may be planned or current. */
    limit: z.int(),
  }),
  summary: "Announcements that are planned and current, and the newest that are over.",
  spec,
});

export const create = operation({
  subject: "lifecycle.announcement.create",
  http: { ...staff, method: "POST", path, status: 201 },
  body: {
    /** Chosen by the caller, so that a repeat makes no second one; else made up. */
    id: id.optional(),
    ...given,
  },
  output: StaffAnnouncement,
  faults: ["bad_announcement", "announcement_exists", "announcement_limit"],
  onceById: true,
  summary: "Announces something, or plans a maintenance window; a repeat with the same id changes nothing.",
  spec,
});

export const change = operation({
  subject: "lifecycle.announcement.change",
  http: { ...staff, method: "PUT", path: one },
  params: { id: z.string().min(1).max(64) },
  /** All of it is replaced. */
  body: given,
  output: StaffAnnouncement,
  faults: ["bad_announcement", "announcement_not_found", "announcement_over"],
  onceById: true,
  summary: "Changes an announcement that is planned or current.",
  spec,
});

export const end = operation({
  subject: "lifecycle.announcement.end",
  http: { ...staff, method: "POST", path: `${one}/end` },
  params: { id: z.string().min(1).max(64) },
  output: StaffAnnouncement,
  faults: ["announcement_not_found"],
  onceById: true,
  summary: "Ends an announcement now, or withdraws one that is planned; one that is over stays as it is.",
  spec,
});
