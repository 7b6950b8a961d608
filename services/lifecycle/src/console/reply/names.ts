// Player names in replies of the game, in the formats of vanilla, Paper and the demo server. Best effort, never an error:
// the raw reply is returned as well. Pure.

const colours = /§[0-9a-fk-orx]/gi;
const playerName = /^\.?[A-Za-z0-9_]{1,16}$/;
const address = /^\d{1,3}(?:\.\d{1,3}){3}$|:.*:/;

/** The reply without the game's colour codes. */
export function withoutColours(reply: string): string {
  return reply.replace(colours, "");
}

/** `There are 2 whitelisted player(s): alice, bob`, and the older `… whitelisted players:` followed by the names. */
export function whitelistedIn(reply: string): string[] {
  const text = withoutColours(reply);
  const colon = text.indexOf(":");
  if (colon < 0 || !/\bwhitelisted player/i.test(text.slice(0, colon))) return [];
  return listed(text.slice(colon + 1));
}

const bannedBy = " was banned by ";

/**
 * `There are 2 ban(s):` and a line for each; RCON of some versions omits the line breaks, so that a name follows the full
 * stop of the previous reason. The list also has banned addresses, which are omitted.
 */
export function bannedIn(reply: string): string[] {
  const text = withoutColours(reply);
  const parts = text.split(bannedBy).slice(0, -1);
  if (parts.length > 0) return unique(parts.map((part) => nameAtEnd(lastWord(part))));
  const [, rest] = /\bbanned players?:([\s\S]*)$/i.exec(text) ?? [];
  return listed(rest ?? "");
}

/** Reads 64 characters at most: a name has 16 and an address 39. */
function lastWord(text: string): string {
  return (
    text
      .slice(-64)
      .split(/[\s,;()]/)
      .at(-1) ?? ""
  );
}

function nameAtEnd(word: string): string {
  const glued = word.replace(/^:(?!:)/, "");
  if (address.test(glued) || /(?:^|\D)\d{1,3}(?:\.\d{1,3}){3}$/.test(glued)) return "";
  return glued.slice(glued.lastIndexOf(".") + 1);
}

function listed(text: string): string[] {
  return unique(text.split(/,|\band\b|[\r\n]+/).map((name) => name.trim()));
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => playerName.test(name));
}
