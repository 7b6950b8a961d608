// What could be typed next: commands of the game at the start, players who are on after that.

const commands = [
  "ban",
  "ban-ip",
  "banlist",
  "clear",
  "defaultgamemode",
  "deop",
  "difficulty",
  "effect",
  "enchant",
  "experience",
  "fill",
  "gamemode",
  "gamerule",
  "give",
  "kick",
  "kill",
  "list",
  "msg",
  "op",
  "pardon",
  "save-all",
  "say",
  "seed",
  "setworldspawn",
  "spawnpoint",
  "spreadplayers",
  "summon",
  "team",
  "teleport",
  "tell",
  "tellraw",
  "time",
  "title",
  "tp",
  "weather",
  "whitelist",
  "worldborder",
] as const;

const most = 8;

/** Whole lines that begin with what is typed; nothing for an empty line. */
export function completionsOf(typed: string, players: readonly string[]): string[] {
  if (typed.trim() === "") return [];
  const cut = typed.lastIndexOf(" ") + 1;
  const [before, word] = [typed.slice(0, cut), typed.slice(cut).toLowerCase()];
  const candidates: readonly string[] = cut === 0 ? commands : players;
  return candidates
    .filter((candidate) => candidate.toLowerCase().startsWith(word) && candidate.toLowerCase() !== word)
    .slice(0, most)
    .map((candidate) => before + candidate);
}
