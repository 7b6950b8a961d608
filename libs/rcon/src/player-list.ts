/** What a `list` reply says. `players` is empty when the reply names nobody, also while `online` is above zero. */
type PlayerList = { readonly online: number; readonly max: number; readonly players: string[] };

/** So much of a `list` reply is read: some 900 names. What a server says beyond it is cut off, the count is not lost. */
export const maxListReplyBytes = 16_384;

/** A name of 32 characters, its prefixes in brackets and the group before it. */
const maxNameChars = 256;

const colourCodes = /§[0-9a-fk-orx]/gi;

// Tried in order, anywhere in the text (docs/reference/server-states.md#probe). The groups are: visible, hidden, maximum.
const formats = [
  /There are (?<online>\d{1,20})(?<hidden>) of a max(?:imum)? of (?<max>\d{1,20}) players online/i,
  /There are (?<online>\d{1,20})(?:\/(?<hidden>\d{1,20}))? out of (?:a )?maximum (?:of )?(?<max>\d{1,20}) players online/i,
  /There are (?<online>\d{1,20})(?<hidden>)\/(?<max>\d{1,20}) players online/i,
];

/**
 * Reads the player count out of a `list` reply: vanilla, the older `N/M`, and plugins' `N/H out of maximum M` with hidden
 * players counted (docs/reference/server-states.md#probe). Colour codes are ignored. The reply is what a tenant's server says: the work
 * is linear in it and it is cut at `maxListReplyBytes`.
 * @returns `undefined` when no format fits: the count is unknown, which is not zero
 */
export function parsePlayerList(reply: string): PlayerList | undefined {
  const text = cut(reply).replace(colourCodes, "");
  for (const format of formats) {
    const match = format.exec(text);
    if (!match) continue;
    const { online, hidden, max } = match.groups ?? {};
    const counts = { online: Number(online) + Number(hidden || 0), max: Number(max) };
    if (!Number.isSafeInteger(counts.online) || !Number.isSafeInteger(counts.max)) return undefined;
    return { ...counts, players: names(text.slice(match.index + match[0].length)) };
  }
  return undefined;
}

/** Ends at what separates names, so that no name is cut into another one. */
function cut(reply: string): string {
  if (reply.length < maxListReplyBytes) return reply;
  const kept = reply.slice(0, maxListReplyBytes);
  return kept.slice(0, 1 + Math.max(...[",", "\n", ":"].map((separator) => kept.lastIndexOf(separator))));
}

/** The names follow a colon; plugins put groups on lines of their own, as `default: alice, bob`. */
function names(rest: string): string[] {
  return rest
    .split(/[\r\n]+/)
    .flatMap((line) => line.slice(line.indexOf(":") + 1).split(","))
    .filter((name) => name.length <= maxNameChars)
    .map((name) => withoutBrackets(name).trim())
    .filter((name) => /^[.*]?\w[\w-]{0,31}$/.test(name));
}

/** `[AFK]alice` is alice. An expression would look for the end of each bracket anew. */
function withoutBrackets(name: string): string {
  let kept = "";
  let at = 0;
  for (;;) {
    const open = name.indexOf("[", at);
    const close = open < 0 ? -1 : name.indexOf("]", open);
    if (close < 0) return kept + name.slice(at);
    kept += name.slice(at, open);
    at = close + 1;
  }
}
