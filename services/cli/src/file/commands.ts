import { basename } from "node:path";
import { files, type OutputOf } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { CommandError, type Outcome, planned, sizeText, table } from "../output.ts";
import { within } from "./target.ts";

type Listing = OutputOf<typeof files.list>;

export async function listFolder(name: string, path: string, { data }: { data: string }): Promise<Outcome> {
  const external = connectExternal(data);
  const answer = await readWhole((from) =>
    external.call(files.list, { name, path, ...(from !== undefined && { from }) }),
  );
  const rows = answer.entries.map((entry) => [
    entry.is_dir ? "-" : sizeText(entry.size),
    entry.mod_time.slice(0, 19),
    entry.is_dir ? `${entry.name}/` : entry.name,
  ]);
  return { json: answer, text: rows.length === 0 ? "The folder is empty." : table(rows) };
}

/**
 * A folder however large it is, page by page (docs/reference/files.md#operations). A page begins with the last name of the one
 * before; `truncated` stays where a page brings nothing further.
 */
export async function readWhole(readPage: (from?: string) => Promise<Listing>): Promise<Listing> {
  let page = await readPage();
  const entries = [...page.entries];
  let last = entries.at(-1)?.name;
  while (page.truncated && last !== undefined) {
    const from: string = last;
    page = await readPage(from);
    entries.push(...page.entries.filter((entry) => entry.name > from));
    last = entries.at(-1)?.name;
    if (last === from) break;
  }
  return { ...page, entries };
}

export async function makeFolder(name: string, path: string, { data }: { data: string }): Promise<Outcome> {
  const answer = await connectExternal(data).call(files.makeFolder, { name, path });
  return { json: answer, text: `Created ${answer.path}.` };
}

type Move = { name: string; path: string; to: string };

export async function movePath({ name, path, to }: Move, { data }: { data: string }): Promise<Outcome> {
  const target = within(to, basename(path));
  const answer = await connectExternal(data).call(files.rename, { name, path, to: target });
  return { json: answer, text: `${answer.path} is now ${answer.to}.` };
}

export async function removePath(
  name: string,
  path: string,
  { data, yes }: { data: string; yes?: boolean },
): Promise<Outcome> {
  const external = connectExternal(data);
  if (!yes) {
    const parts = path.split("/").filter((part) => part !== "");
    const last = parts.at(-1) ?? "";
    // From its own name on: there or not, however large the folder is.
    const { entries } = await external.call(files.list, {
      name,
      path: parts.slice(0, -1).join("/"),
      ...(last !== "" && { from: last }),
    });
    const entry = entries.find((one) => one.name === last);
    if (!entry) throw new CommandError(`${path} not found in the world of ${name}`);
    const what = entry.is_dir ? `${path} and its contents` : path;
    return planned({ name, path }, `Plan: delete ${what} from the world of ${name}.`);
  }
  const answer = await external.call(files.remove, { name, path });
  return { json: answer, text: `Deleted ${path}.` };
}
