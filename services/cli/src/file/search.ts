import { files, type OutputOf } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { type Outcome, UsageError } from "../output.ts";
import { printable } from "./printable.ts";

type Wanted = { name: string; text: string; path: string };
type Options = { data: string; names?: boolean; content?: boolean; matchCase?: boolean };
type Found = OutputOf<typeof files.search>;

/** Looks for a text in the files of a world. */
export async function searchFiles(
  wanted: Wanted,
  { data, names = false, content = false, matchCase = false }: Options,
): Promise<Outcome> {
  if (names && content) throw new UsageError("choose one of --names and --content, or neither for both");
  const found = await connectExternal(data).call(files.search, {
    ...wanted,
    in: names ? "names" : content ? "content" : "both",
    match_case: matchCase ? "true" : "false",
  });
  return { json: found, text: [...listed(found), ...remarks(found)].join("\n") };
}

function listed({ matches }: Found): string[] {
  if (matches.length === 0) return ["Nothing found."];
  return matches.flatMap(({ path, is_dir, lines, more_lines }) => [
    printable(is_dir ? `${path}/` : path),
    ...lines.map(({ line, text }) => `  ${line}: ${printable(text)}`),
    ...(more_lines ? ["  ..."] : []),
  ]);
}

const stops: Readonly<Record<NonNullable<Found["stopped"]>, string>> = {
  matches: "more was found than is shown",
  entries: "there are more files than one search looks at",
  bytes: "there is more text than one search reads",
  time: "the time of one search was over",
};

const reasons: readonly [why: keyof Found["left_out"], one: string, several: string][] = [
  ["large", "that is too large", "that are too large"],
  ["binary", "that is no text", "that are no text"],
  ["protected", "with secrets of the platform", "with secrets of the platform"],
  ["unreadable", "that cannot be read", "that cannot be read"],
];

export function remarks({ stopped, left_out }: Pick<Found, "stopped" | "left_out">): string[] {
  const left = reasons.flatMap(([why, one, several]) => {
    const count = left_out[why];
    if (count === 0) return [];
    return [count === 1 ? `1 file ${one}` : `${count} files ${several}`];
  });
  return [
    ...(stopped === null ? [] : [`Not everything was searched: ${stops[stopped]}. Search a smaller folder.`]),
    ...(left.length === 0 ? [] : [`Left out: ${left.join(", ")}.`]),
  ];
}
