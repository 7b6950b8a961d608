import type { CommandContext, GameServer, Position } from "flying-squid";
import type { OwnCommand } from "./tools.ts";

const usage = "tp [player] <player | x y z>";

/** flying-squid's own works for players only; this one works from the console too. */
export function teleportCommands(server: GameServer): Record<string, OwnCommand> {
  const command: OwnCommand = {
    usage,
    info: "Moves a player",
    run: (argument, context) => teleport(server, argument, context),
  };
  return { tp: command, teleport: command };
}

async function teleport(
  server: GameServer,
  argument: string,
  { player: caller }: CommandContext,
): Promise<string> {
  const find = (name: string) =>
    server.players.find(({ username }) => username.toLowerCase() === name.toLowerCase());
  const words = argument.split(/\s+/).filter((word) => word !== "");
  const namesWho = words.length === 2 || words.length === 4;
  const who = namesWho ? find(words[0] ?? "") : caller;
  const destination = namesWho ? words.slice(1) : words;
  if (destination.length !== 1 && destination.length !== 3) return `Usage: /${usage}`;
  if (!who) return "No player was found";
  const goal =
    destination.length === 1
      ? find(destination[0] ?? "")?.position
      : resolvePosition(who.position, destination);
  if (!goal) return destination.length === 1 ? "No player was found" : "Invalid position";
  await who.teleport(goal);
  return `Teleported ${who.username} to ${goal.x}, ${goal.y}, ${goal.z}`;
}

/** As in the game: `~` counts from where the player is, and a whole number means the middle of a block. */
function resolvePosition(from: Position, words: readonly string[]): Position | undefined {
  const [x, y, z] = (["x", "y", "z"] as const).map((axis, index) => {
    const [, tilde, digits = ""] = /^(~?)(-?\d{0,8}(?:\.\d{1,6})?)$/.exec(words[index] ?? "") ?? [];
    if (tilde === undefined || (tilde === "" && digits === "")) return Number.NaN;
    if (tilde) return from[axis] + Number(digits);
    return Number(digits) + (axis !== "y" && !digits.includes(".") ? 0.5 : 0);
  });
  if (x === undefined || y === undefined || z === undefined) return undefined;
  const isInside = Math.abs(x) < 30_000_000 && Math.abs(y) <= 4_096 && Math.abs(z) < 30_000_000;
  // Through zero, so that the sum is exact.
  return isInside ? from.offset(-from.x, -from.y, -from.z).offset(x, y, z) : undefined;
}
