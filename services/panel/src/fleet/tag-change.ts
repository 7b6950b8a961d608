// What a bulk run writes of the tags of one server (docs/reference/server-resource.md#tags). Pure.

import type { ServerTag } from "@svc/proto";

/** A tag as it is stored: in lower case. */
export function tagNameOf(typed: string): string {
  return typed.trim().toLowerCase();
}

/** All tags to write: a tag that is there gets the colour and keeps its place. Undefined where nothing changes. */
export function tagsToWrite(
  before: readonly ServerTag[],
  { act, tag }: { act: "tag" | "untag"; tag: ServerTag },
): ServerTag[] | undefined {
  const known = before.find(({ name }) => name === tag.name);
  if (act === "untag") return known && before.filter((one) => one !== known);
  if (!known) return [...before, tag];
  return known.colour === tag.colour ? undefined : before.map((one) => (one === known ? tag : one));
}
