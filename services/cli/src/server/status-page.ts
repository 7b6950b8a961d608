// Whether everybody may read the status of a server (docs/reference/status-pages.md#commands).

import { statusPages } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { addressOf } from "../account/panel-client.ts";
import { type Outcome, UsageError } from "../output.ts";

type Options = { data: string; on?: boolean; off?: boolean };

/** Of one server, or with an empty name of the list of all. */
export async function statusPage(name: string, { data, on, off }: Options): Promise<Outcome> {
  if (on && off) throw new UsageError("give --on or --off, not both");
  const isChange = on === true || off === true;
  const external = connectExternal(data);
  const at = (path: string) => addressOf(data, "panel", path);
  if (name === "") {
    const shown = isChange
      ? await external.call(statusPages.writeOverall, { public: on === true })
      : await external.call(statusPages.readOverall, {});
    return { json: shown, text: listSentence(shown, at) };
  }
  const shown = isChange
    ? await external.call(statusPages.write, { name, public: on === true })
    : await external.call(statusPages.read, { name });
  return { json: shown, text: sentenceOf(name, shown, at) };
}

/** The address of a path of the panel. */
type At = (path: string) => string;

export function sentenceOf(name: string, shown: statusPages.Shown, at: At): string {
  const { public: isPublic, subdomain, listed } = shown;
  if (!isPublic) return `The status of ${name} is not shown.`;
  const also = listed ? `\nIt is in the list: ${at("/status")}` : "";
  return `Everybody reads the status of ${name}: ${at(`/status/${subdomain}`)}
Its badge: ${at(`/api/v1/status/${subdomain}/badge.svg`)}${also}`;
}

export function listSentence(shown: { public: boolean; servers: number }, at: At): string {
  const { public: isPublic, servers } = shown;
  const count = `${servers} ${servers === 1 ? "server" : "servers"}`;
  return isPublic
    ? `Everybody reads the list, with ${count}: ${at("/status")}`
    : `The list is not shown; ${count} would be in it.`;
}
