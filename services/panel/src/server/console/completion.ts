// What could be typed next: earlier lines, commands of the game at the start, and after that their words or who is on.

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

/** What follows some commands. */
const words: Readonly<Record<string, readonly string[]>> = {
  difficulty: ["peaceful", "easy", "normal", "hard"],
  defaultgamemode: ["survival", "creative", "adventure", "spectator"],
  gamemode: ["survival", "creative", "adventure", "spectator"],
  time: ["set", "add", "query"],
  "time set": ["day", "noon", "night", "midnight"],
  weather: ["clear", "rain", "thunder"],
  whitelist: ["add", "list", "off", "on", "reload", "remove"],
  worldborder: ["add", "center", "get", "set"],
};

const most = 6;

/** What a line can be completed from: who is on, and what was sent before, newest last. */
type Known = { players: readonly string[]; history: readonly string[] };

/** Whole lines that begin with what is typed, earlier ones first; nothing for an empty line. */
export function completionsOf(typed: string, { players, history }: Known): string[] {
  if (typed.trim() === "") return [];
  const lower = typed.toLowerCase();
  const earlier = history
    .filter((line) => line.toLowerCase().startsWith(lower) && line !== typed)
    .toReversed();
  return [...new Set([...earlier.slice(0, 2), ...nextWords(typed, players)])].slice(0, most);
}

function nextWords(typed: string, players: readonly string[]): string[] {
  const cut = typed.lastIndexOf(" ") + 1;
  const slash = cut === 0 && typed.startsWith("/") ? 1 : 0;
  const [before, word] = [typed.slice(0, cut + slash), typed.slice(cut + slash).toLowerCase()];
  const command = before.trim().replace(/^\//, "").toLowerCase();
  const candidates = cut === 0 ? commands : (Object.hasOwn(words, command) && words[command]) || players;
  return candidates
    .filter((candidate) => candidate.toLowerCase().startsWith(word) && candidate.toLowerCase() !== word)
    .map((candidate) => before + candidate);
}
