// Names of players: those that a person pastes, and what became of them.

/** What the operations on players take; a list of the game may hold others. */
const validName = /^[A-Za-z0-9_]{1,16}$/;

/** Whether the game can be asked to do something to a player of this name. */
export function isPlayerName(name: string): boolean {
  return validName.test(name);
}

type PastedNames = {
  /** Each once, whatever its case. */
  names: string[];
  /** What cannot be a name, as it was written. */
  invalid: string[];
};

/** Reads names that are separated by spaces, commas or lines, and a file of the game such as `whitelist.json`. */
export function parseNames(text: string): PastedNames {
  const found = namesOfFile(text) ?? text.split(/[\s,;，；、]+/);
  const unique = new Map<string, string>();
  for (const name of found) if (name !== "" && !unique.has(keyOf(name))) unique.set(keyOf(name), name);
  const all = [...unique.values()];
  return { names: all.filter(isPlayerName), invalid: all.filter((name) => !isPlayerName(name)) };
}

function namesOfFile(text: string): string[] | undefined {
  if (!text.trimStart().startsWith("[")) return undefined;
  try {
    const entries: unknown = JSON.parse(text);
    if (!Array.isArray(entries)) return undefined;
    return entries.flatMap((entry: unknown) => {
      const name = typeof entry === "object" && entry !== null && "name" in entry ? entry.name : entry;
      return typeof name === "string" ? [name] : [];
    });
  } catch {
    return undefined;
  }
}

function keyOf(name: string): string {
  return name.toLowerCase();
}

/** The names that a list lacks: the game took the command and refused the player. */
export function missingFrom(list: readonly string[], names: readonly string[]): string[] {
  const listed = new Set(list.map(keyOf));
  return names.filter((name) => !listed.has(keyOf(name)));
}

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** The names that contain a text, in order. */
export function searchNames(names: readonly string[], search: string): string[] {
  const wanted = keyOf(search.trim());
  return names.filter((name) => keyOf(name).includes(wanted)).sort(byName.compare);
}
