import { files } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { CommandError, type Outcome, sizeText } from "../output.ts";
import { awaitEnd } from "./await-operation.ts";
import { printable } from "./printable.ts";

type Wanted = { name: string; path: string };
type Options = { data: string; overwrite?: boolean; skipProtected?: boolean };

const namesShown = 20;

/** Extracts a zip of the world into the folder in which it is; all of it or nothing. */
export async function unzipFile(
  { name, path }: Wanted,
  { data, overwrite = false, skipProtected = false }: Options,
): Promise<Outcome> {
  const external = connectExternal(data);
  const { op } = await external.call(files.unzip, { name, path, overwrite, skip_protected: skipProtected });
  const ended = await awaitEnd(external, name, op.id);
  if (ended.state === "failed") throw new CommandError(failedText(ended.error));
  return { json: ended, text: doneText(ended) };
}

type Ended = Pick<files.FileOp, "path" | "files" | "bytes" | "left_out" | "left_out_count">;

export function doneText({
  path,
  files: count = 0,
  bytes = 0,
  left_out = [],
  left_out_count,
}: Ended): string {
  const lines = [`${printable(path)} is extracted: ${count} files, ${sizeText(bytes)}.`];
  const all = left_out_count ?? left_out.length;
  if (all > 0) lines.push(...listed("Left out, the platform writes these itself:", left_out, all));
  return lines.join("\n");
}

/** Why nothing was extracted, and the option that gets around it. */
export function failedText(error: files.FileOpError | undefined): string {
  if (error === undefined) return "nothing was extracted; try again";
  const { code, message, conflicts = [], conflict_count } = error;
  if (code === "file_exists") {
    const all = conflict_count ?? conflicts.length;
    const title = "nothing was extracted; these are there already, replace them with --overwrite:";
    return listed(title, conflicts, all).join("\n");
  }
  const way = code === "bad_path" ? " Leave such files out with --skip-protected." : "";
  return `nothing was extracted: ${printable(message)}${way}`;
}

function listed(title: string, names: string[], all: number): string[] {
  const shown = names.slice(0, namesShown);
  const more = all - shown.length;
  return [
    title,
    ...shown.map((one) => `  ${printable(one)}`),
    ...(more > 0 ? [`  ... and ${more} more`] : []),
  ];
}
