// What was done to a server, and by whom (docs/reference/audit.md#activity).

import { type OutputOf, ownership } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { type Outcome, table } from "../output.ts";

type Page = OutputOf<typeof ownership.listActivity>;
type Entry = Page["entries"][number];

/** What an operation answers at most. */
const pageSize = 100;

/** The newest entries of the activity of one server, or all of them. */
export async function serverActivity(
  name: string,
  { data, limit = 50, all = false }: { data: string; limit?: number; all?: boolean },
): Promise<Outcome> {
  const external = connectExternal(data);
  const wanted = all ? Number.POSITIVE_INFINITY : limit;
  const entries: Entry[] = [];
  let next: string | undefined;
  do {
    const left = Math.max(1, Math.min(pageSize, wanted - entries.length));
    const page: Page = await external.call(ownership.listActivity, {
      ...{ name, limit: left },
      ...(next !== undefined && { cursor: next }),
    });
    entries.push(...page.entries);
    next = page.next;
  } while (next !== undefined && entries.length < wanted);
  return {
    json: { entries, ...(next !== undefined && { next }) },
    text: activityText(name, { entries, isCut: next !== undefined }),
  };
}

export function activityText(
  name: string,
  { entries, isCut }: { entries: readonly Entry[]; isCut: boolean },
): string {
  if (entries.length === 0) return `Nothing was done to ${name} that is kept.`;
  const rows = entries.map((entry) => [
    entry.at.slice(0, 19),
    entry.by === "account" ? (entry.name ?? "deleted account") : entry.by,
    entry.action,
    detailsOf(entry),
  ]);
  const lines = table([["AT", "BY", "WHAT", "DETAIL"], ...rows]);
  return isCut ? `${lines}\nThere are earlier entries: add --all.` : lines;
}

// Facts of whatever kind, also of actions of a newer service.
function detailsOf({ payload, access }: Entry): string {
  const facts = Object.entries(payload).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [...facts, ...accessTexts(access)].join(" ");
}

function accessTexts(access: Entry["access"]): string[] {
  if (!access) return [];
  const { account, given, taken, limits, ends_at } = access;
  return [
    ...(account === undefined ? [] : [`account=${account}`]),
    ...(given.length === 0 ? [] : [`given=${given.join(",")}`]),
    ...(taken.length === 0 ? [] : [`taken=${taken.join(",")}`]),
    ...limits.map(({ limit, was, now }) => changeText(limit, was?.join(","), now?.join(","), "all")),
    ...(ends_at ? [changeText("ends", ends_at.was, ends_at.now, "never")] : []),
  ];
}

function changeText(
  ...[name, was, now, none]: [string, string | undefined, string | undefined, string]
): string {
  return was === undefined ? `${name}=${now ?? none}` : `${name}=${now ?? none} (was ${was})`;
}
