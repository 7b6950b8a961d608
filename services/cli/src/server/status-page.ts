// Whether everybody may read the status of a server (docs/reference/status-pages.md#commands).

import { statusPages } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { CommandError, type Outcome } from "../output.ts";

type Options = { data: string; on?: boolean; off?: boolean };

/** Of one server, or with an empty name of the list of all. */
export async function statusPage(name: string, { data, on, off }: Options): Promise<Outcome> {
  if (on && off) throw new CommandError("give --on or --off, not both");
  const isChange = on === true || off === true;
  const external = connectExternal(data);
  if (name === "") {
    const shown = isChange
      ? await external.call(statusPages.writeOverall, { public: on === true })
      : await external.call(statusPages.readOverall, {});
    return { json: shown, text: listSentence(shown) };
  }
  const shown = isChange
    ? await external.call(statusPages.write, { name, public: on === true })
    : await external.call(statusPages.read, { name });
  return { json: shown, text: sentenceOf(name, shown) };
}

export function sentenceOf(name: string, shown: statusPages.Shown): string {
  const { public: isPublic, subdomain, listed } = shown;
  if (!isPublic) return `The status of ${name} is not shown.`;
  const also = listed ? ", and is in the list at /status" : "";
  return `Everybody reads the status of ${name} on the panel at /status/${subdomain}${also}.
Its badge is at /api/v1/status/${subdomain}/badge.svg.`;
}

export function listSentence(shown: { public: boolean; servers: number }): string {
  const { public: isPublic, servers } = shown;
  const count = `${servers} ${servers === 1 ? "server" : "servers"}`;
  return isPublic
    ? `Everybody reads the list at /status, with ${count}.`
    : `The list is not shown; ${count} would be in it.`;
}
