import { type ServerTag, servers, tagColours, tags } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { type Outcome, table, UsageError } from "../output.ts";

type Options = { data: string; add?: string[]; remove?: string[]; inLine?: boolean };

/** Shows the tags of a server, in one line where it is one of several; with options, changes them and leaves the others. */
export async function tagServer(name: string, options: Options): Promise<Outcome> {
  const { data, add = [], remove = [], inLine = false } = options;
  const wanted = add.map(parseTag);
  const external = connectExternal(data);
  const status = await external.call(servers.viewStatus, { name });
  const before = ("tags" in status && status.tags) || [];
  if (wanted.length === 0 && remove.length === 0) return outcomeOf(name, before, inLine);
  const after = await external.call(tags.write, { name, tags: changed(before, wanted, remove) });
  return outcomeOf(name, after.tags, inLine);
}

export function outcomeOf(name: string, all: readonly ServerTag[], inLine: boolean): Outcome {
  if (inLine) {
    const words = all.map((tag) => `${tag.name} (${tag.colour})`).join(", ");
    return { json: all, text: words || "no tags" };
  }
  const rows = all.map((tag) => [tag.name, tag.colour]);
  return {
    json: all,
    text: rows.length === 0 ? `${name} has no tags.` : table([["TAG", "COLOUR"], ...rows]),
  };
}

/** `event` or `event:red`. */
export function parseTag(text: string): ServerTag {
  const at = text.lastIndexOf(":");
  if (at === -1) return { name: text, colour: "grey" };
  const colour = tagColours.find((one) => one === text.slice(at + 1));
  if (colour) return { name: text.slice(0, at), colour };
  throw new UsageError(
    `--add ${text}: write a tag, or a tag with one of the colours ${tagColours.join(", ")}`,
  );
}

/** A tag that is added again gets the new colour and keeps its place. */
export function changed(
  before: readonly ServerTag[],
  add: readonly ServerTag[],
  remove: readonly string[],
): ServerTag[] {
  const isSame = (one: string, other: string) => one.trim().toLowerCase() === other.trim().toLowerCase();
  const kept = before
    .filter(({ name }) => !remove.some((other) => isSame(name, other)))
    .map((tag) => add.find(({ name }) => isSame(name, tag.name)) ?? tag);
  return [...kept, ...add.filter(({ name }) => !kept.some((tag) => isSame(name, tag.name)))];
}
