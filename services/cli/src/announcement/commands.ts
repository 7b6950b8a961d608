// Announcements and maintenance windows (docs/reference/announcements.md#commands).

import { parseDuration } from "@svc/config";
import { announcements, shortMoment } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { CommandError, type Outcome, planned, table, UsageError } from "../output.ts";
import { endOf, startOf } from "../time.ts";

export type At = { data: string };
type Given = { severity?: announcements.Severity; start?: string; end?: string; for?: string };
export type CreateOptions = At &
  Given & { zh?: string; maintenance?: boolean; public?: boolean; id?: string };
/** `zh` is false with `--no-zh`. */
export type SetOptions = At & Given & { text?: string; zh?: string | boolean };

export async function list({ data }: At): Promise<Outcome> {
  const answer = await connectExternal(data).call(announcements.list, {});
  const rows = answer.announcements.map((one) => [
    ...[one.id, one.ended ? "ended" : one.state, one.maintenance ? "maintenance" : one.severity],
    ...[
      one.public ? "everybody" : "signed in",
      shortMoment(one.start),
      shortMoment(one.end),
      String(one.servers_told),
      one.text.en,
    ],
  ]);
  const head = ["ID", "STATE", "KIND", "SHOWN TO", "START", "END", "SERVERS", "TEXT"];
  return { json: answer, text: rows.length === 0 ? "There are none." : table([head, ...rows]) };
}

/** `from`: the start that --for counts from. */
function untilOf({ end, for: span }: Given, from: number): string | undefined {
  if (end !== undefined && span !== undefined) throw new UsageError("give --end or --for, not both");
  if (end !== undefined) return endOf(end, "--end").toISOString();
  if (span === undefined) return undefined;
  const ms = parseDuration(span);
  if (ms === undefined || ms <= 0) throw new UsageError(`--for ${span}: write a span such as 90m, 2h or 1d`);
  return new Date(from + ms).toISOString();
}

export async function create(en: string, options: CreateOptions): Promise<Outcome> {
  const { zh, severity, id, maintenance = false } = options;
  const start = options.start === undefined ? undefined : startOf(options.start, "--start").toISOString();
  const end = untilOf(options, start === undefined ? Date.now() : Date.parse(start));
  if (end === undefined) throw new UsageError("say until when, with --end or --for, such as --for 2h");
  const made = await connectExternal(options.data).call(announcements.create, {
    ...(id !== undefined && { id }),
    text: { en, ...(zh !== undefined && { zh }) },
    severity: severity ?? (maintenance ? "warning" : "info"),
    ...(start !== undefined && { start }),
    ...{ end, maintenance, public: options.public ?? false },
  });
  return { json: made, text: sentenceOf(made) };
}

function sentenceOf({ id, maintenance, start, end, state }: announcements.StaffAnnouncement): string {
  const what = maintenance ? "nothing is woken" : "it is shown";
  return `${id} is ${state}: ${what} from ${shortMoment(start)} to ${shortMoment(end)}.`;
}

async function find(id: string, { data }: At): Promise<announcements.StaffAnnouncement> {
  const { announcements: all } = await connectExternal(data).call(announcements.list, {});
  const found = all.find((one) => one.id === id);
  if (!found) throw new CommandError(`there is no announcement ${id}; list them with: \`svc announce list\``);
  return found;
}

export async function set(id: string, options: SetOptions): Promise<Outcome> {
  const before = await find(id, options);
  const zh = typeof options.zh === "string" ? options.zh : options.zh === false ? undefined : before.text.zh;
  const start = options.start === undefined ? before.start : startOf(options.start, "--start").toISOString();
  const changed = await connectExternal(options.data).call(announcements.change, {
    id,
    text: { en: options.text ?? before.text.en, ...(zh !== undefined && { zh }) },
    severity: options.severity ?? before.severity,
    ...{ start, end: untilOf(options, Date.parse(start)) ?? before.end },
    ...{ maintenance: before.maintenance, public: before.public },
  });
  return { json: changed, text: sentenceOf(changed) };
}

export async function end(id: string, { yes = false, ...options }: At & { yes?: boolean }): Promise<Outcome> {
  const found = await find(id, options);
  const { text, state } = found;
  if (state === "over") return { json: found, text: `${id} is over already.` };
  if (!yes) return planned({ id }, `Would end ${id}, which is ${state}: ${text.en}`);
  const ended = await connectExternal(options.data).call(announcements.end, { id });
  return { json: ended, text: `${id} has ended.` };
}
