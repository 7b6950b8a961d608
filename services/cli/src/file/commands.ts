import { files } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { CommandError, type Outcome, planned, sizeText, table } from "../output.ts";

export async function listFolder(name: string, path: string, { data }: { data: string }): Promise<Outcome> {
  const answer = await connectExternal(data).call(files.list, { name, path });
  const rows = answer.entries.map((entry) => [
    entry.is_dir ? "-" : sizeText(entry.size),
    entry.mod_time.slice(0, 19),
    entry.is_dir ? `${entry.name}/` : entry.name,
  ]);
  const more = answer.truncated ? "\n(more entries not shown)" : "";
  return { json: answer, text: rows.length === 0 ? "The folder is empty." : table(rows) + more };
}

export async function makeFolder(name: string, path: string, { data }: { data: string }): Promise<Outcome> {
  const answer = await connectExternal(data).call(files.makeFolder, { name, path });
  return { json: answer, text: `Created ${answer.path}.` };
}

export async function removePath(
  name: string,
  path: string,
  { data, yes }: { data: string; yes?: boolean },
): Promise<Outcome> {
  const external = connectExternal(data);
  if (!yes) {
    const parts = path.split("/").filter((part) => part !== "");
    const { entries, truncated } = await external.call(files.list, {
      name,
      path: parts.slice(0, -1).join("/"),
    });
    const entry = entries.find((one) => one.name === parts.at(-1));
    if (!entry && !truncated) throw new CommandError(`${path} not found in the world of ${name}`);
    const what = entry?.is_dir ? `${path} and its contents` : path;
    return planned({ name, path }, `Plan: delete ${what} from the world of ${name}.`);
  }
  const answer = await external.call(files.remove, { name, path });
  return { json: answer, text: `Deleted ${path}.` };
}
