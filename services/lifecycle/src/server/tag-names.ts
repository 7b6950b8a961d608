// What a tag may be called (docs/reference/server-resource.md#tags). Pure.

import { maxTagLength, maxTags, type ServerTag } from "@svc/proto";

type Read = { kind: "read"; tags: ServerTag[] } | { kind: "refused"; message: string };

// A letter or a digit first, then also marks and what joins words.
const shape = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]*$/u;

/** The tags as they are stored: names trimmed, composed and in lower case. */
export function readTags(given: readonly ServerTag[]): Read {
  const tags = given.map(({ name, colour }) => ({ name: storedName(name), colour }));
  const refused = (message: string): Read => ({ kind: "refused", message });
  if (tags.length > maxTags) return refused(`A server can have ${maxTags} tags; these are ${tags.length}.`);
  for (const { name } of tags) {
    if (!shape.test(name) || [...name].length > maxTagLength)
      return refused(
        `A tag has 1 to ${maxTagLength} letters and digits, and inside also spaces, dots, dashes and underscores.`,
      );
  }
  const twice = tags.find(({ name }, at) => tags.findIndex((other) => other.name === name) !== at);
  return twice ? refused(`The tag ${twice.name} is there twice.`) : { kind: "read", tags };
}

function storedName(text: string): string {
  return text.normalize("NFC").trim().replace(/ +/g, " ").toLowerCase();
}
