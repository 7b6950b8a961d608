import type { Input, Output } from "../../api/operations.ts";
import { visible } from "../../words/visible.ts";
import { given, type Query, textOf } from "../address.ts";

export type AuditEntry = Output<"settings.searchAudit">["entries"][number];

/** Beginnings of actions that can be chosen; `*` ends one in a request. */
export const families = [
  "auth",
  "account",
  "user",
  "server",
  "access",
  "allowlist",
  "console",
  "backup",
  "world",
  "file",
  "schedule",
  "image",
  "player",
  "break_glass",
] as const;

/** What is asked for, as the address has it; empty asks for all. Days are `2026-11-22`. */
export type AuditView = {
  action: string;
  actor: string;
  server: string;
  since: string;
  until: string;
  /** Cursor of a later page; empty is the newest one. */
  before: string;
};

export const allEntries: AuditView = { action: "", actor: "", server: "", since: "", until: "", before: "" };

/** Reads what the address says about the audit log. */
export function auditViewOf(query: Query): AuditView {
  const { action, actor, server, since, until, before } = query;
  return {
    action: textOf(action).slice(0, 254),
    actor: textOf(actor).slice(0, 254),
    server: textOf(server).slice(0, 254),
    since: startOfDay(textOf(since)) ? textOf(since) : "",
    until: startOfDay(textOf(until)) ? textOf(until) : "",
    before: /^\d{1,15}-\d{1,15}$/.test(textOf(before)) ? textOf(before) : "",
  };
}

const pageSize = 50;

/** The request for a page; `until` is the last day that counts. Days are those of the person's clock. */
export function requestOf(view: AuditView): Input<"settings.searchAudit"> {
  const { since, until, before, ...texts } = view;
  const trimmed = Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, value.trim()]));
  const from = startOfDay(since);
  const last = startOfDay(until);
  const end = last && new Date(last.getFullYear(), last.getMonth(), last.getDate() + 1);
  return {
    limit: pageSize,
    ...given(trimmed),
    ...(from && { since: from.toISOString() }),
    ...(end && { until: end.toISOString() }),
    ...(before !== "" && { cursor: before }),
  };
}

function startOfDay(text: string): Date | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const date = new Date(Number(year), Number(month) - 1, Number(day));
  const isReal = date.getMonth() === Number(month) - 1 && date.getFullYear() === Number(year);
  return isReal ? date : undefined;
}

/** Where an entry came from: the service or the door behind a colon stands on its own. */
export function sourceOf(source: string): { kind: string; caller: string } {
  const at = source.indexOf(":");
  return at < 0 ? { kind: source, caller: "" } : { kind: source.slice(0, at), caller: source.slice(at + 1) };
}

/** The payload as lines that a person reads; nothing in it hides. Undefined when it says nothing. */
export function payloadText(payload: AuditEntry["payload"]): string | undefined {
  if (Object.keys(payload).length === 0) return undefined;
  return JSON.stringify(payload, null, 2)
    .split("\n")
    .map((line) => visible(line))
    .join("\n");
}
