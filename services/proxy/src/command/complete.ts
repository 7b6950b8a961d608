// What clients complete by Tab of the player commands.

import type { CommandWord } from "@svc/minecraft";
import type { Budget } from "../budget/budget.ts";
import type { Registry } from "../registry/registry.ts";
import { isSystem, type SystemServers } from "../session/place.ts";
import type { Session, Sessions } from "../session/session.ts";

type CompleteDeps = {
  readonly config: SystemServers;
  readonly registry: Pick<Registry, "all">;
  readonly sessions: Sessions;
  readonly completions: Budget;
};

const word = (name: string): CommandWord => ({ name, isComplete: true });
const serverName: CommandWord = { name: "server", argument: "word", isComplete: true };
const playerName: CommandWord = { name: "player", argument: "player", isComplete: true };

/** The commands of `parse.ts`, as a tree. Those that only come from a link to click are left out. */
export const commandTree: readonly CommandWord[] = [
  word("link"),
  word("glist"),
  { name: "invite", next: [playerName] },
  {
    ...word("felis"),
    next: [
      ...["list", "help", "lobby", "claim", "migrate", "web"].map(word),
      { name: "go", next: [serverName] },
    ],
  },
];

const maxWords = 64;

/** Words for the end of a line that is being typed; undefined when it is not a command of ours. */
export function completeCommand(
  context: CompleteDeps,
  session: Session,
  line: string,
): readonly string[] | undefined {
  const [root = "", ...typed] = line.slice(0, 256).replace(/^\//, "").toLowerCase().split(/ +/);
  const command = commandTree.find(({ name }) => name === root);
  const last = typed.pop();
  if (!command || last === undefined || !session.isReleased) return undefined;
  if (context.completions.spend(session.uuid) > 0) return [];
  let next = command.next ?? [];
  for (const part of typed)
    next = next.find(({ name, argument }) => name === part || argument !== undefined)?.next ?? [];
  return startingWith(last, namesOf(context, session, next));
}

function startingWith(start: string, names: Iterable<string>): string[] {
  const found: string[] = [];
  for (const name of names) {
    if (name.toLowerCase().startsWith(start)) found.push(name);
    if (found.length === maxWords) break;
  }
  return found.sort();
}

function* namesOf(context: CompleteDeps, session: Session, words: readonly CommandWord[]): Iterable<string> {
  for (const { name, argument } of words) {
    if (argument === undefined) yield name;
    if (argument === "word")
      for (const server of context.registry.all()) if (!isSystem(context, server.name)) yield server.name;
    // The names that the client shows in its own list of players, and no others.
    if (argument === "player")
      for (const other of context.sessions.values())
        if (other !== session && other.bridge.server === session.bridge.server) yield other.name;
  }
}
