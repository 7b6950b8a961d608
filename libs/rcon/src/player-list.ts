/** What a `list` reply says. `players` is empty when the reply names nobody, also while `online` is above zero. */
export type PlayerList = { readonly online: number; readonly max: number; readonly players: string[] };

const colourCodes = /§[0-9a-fk-orx]/gi;

// Tried in order, anywhere in the text (behaviour.md b.4). The groups are: visible, hidden, maximum.
const formats = [
  /There are (?<online>\d+)(?<hidden>) of a max(?:imum)? of (?<max>\d+) players online/i,
  /There are (?<online>\d+)(?:\/(?<hidden>\d+))? out of (?:a )?maximum (?:of )?(?<max>\d+) players online/i,
  /There are (?<online>\d+)(?<hidden>)\/(?<max>\d+) players online/i,
];

/**
 * Reads the player count out of a `list` reply: vanilla, the older `N/M`, and plugins' `N/H out of maximum M` with hidden
 * players counted (interface.md 3.1 rule 5). Colour codes are ignored.
 * @returns `undefined` when no format fits: the count is unknown, which is not zero
 */
export function parsePlayerList(reply: string): PlayerList | undefined {
  const text = reply.replace(colourCodes, "");
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

/** The names follow a colon; plugins put groups on lines of their own, as `default: alice, bob`. */
function names(rest: string): string[] {
  return rest
    .split(/[\r\n]+/)
    .flatMap((line) => line.slice(line.indexOf(":") + 1).split(","))
    .map((name) => name.replace(/\[[^\]]*\]/g, "").trim())
    .filter((name) => /^[.*]?\w[\w-]{0,31}$/.test(name));
}
