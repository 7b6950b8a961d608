import { servers, worldChanges } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { collectEvents, type StoredEvent } from "../events/events.ts";
import { type Outcome, table } from "../output.ts";
import { momentOf } from "../time.ts";

/** The history of one server from stored events, oldest first. */
export async function serverHistory(
  name: string,
  { data, since }: { data: string; since?: string },
): Promise<Outcome> {
  await connectExternal(data).call(servers.viewStatus, { name });
  const from = since === undefined ? undefined : momentOf(since, "--since");
  const own = historyOf(await collectEvents(data, from), name);
  const rows = own.map(({ at, subject, data: facts }) => [
    at.slice(0, 19),
    kindOf(subject, name),
    detail(facts),
  ]);
  return {
    json: own,
    text: rows.length === 0 ? `No history for ${name}.` : table([["AT", "WHAT", "DETAIL"], ...rows]),
  };
}

/** What happened to one server, each thing once, oldest first. */
export function historyOf(events: readonly StoredEvent[], name: string): StoredEvent[] {
  return events
    .filter((event) => isOf(event, name) && !isNotice(event))
    .sort((one, other) => one.at.localeCompare(other.at));
}

// Events that only say what to read again come at each step of something that has events of its own; a change of files has
// no other one, and its end stands for it (docs/reference/events.md#sources).
function isNotice({ subject, data }: StoredEvent): boolean {
  const isWorldChange = subject.startsWith(`svc.evt.${worldChanges.worldChanged.subject}.`);
  return isWorldChange && worldChanges.worldChanged.data.safeParse(data).data?.ended !== true;
}

const untold = ["name", "server", "server_name", "at"];

function isOf({ data }: StoredEvent, name: string): boolean {
  if (typeof data !== "object" || data === null) return false;
  const facts = data as Record<string, unknown>;
  return ["name", "server", "server_name"].some((key) => facts[key] === name);
}

function kindOf(subject: string, name: string): string {
  return subject.replace(/^svc\.evt\./, "").replace(new RegExp(`\\.${name}$`), "");
}

function detail(facts: unknown): string {
  return Object.entries(facts as object)
    .filter(([key]) => !untold.includes(key))
    .map(([key, value]) => `${key}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
    .join(" ");
}
