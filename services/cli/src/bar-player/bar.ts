import { askIdentity } from "../host/identity.ts";
import { type Outcome, planned } from "../output.ts";

type Barred = { mc_uuid: string; username: string; changed: boolean };

/** Bars a player by UUID, or every player of an account by its name, address or id. */
export async function barPlayer(
  who: string,
  { data, name, yes }: { data: string; name?: string; yes?: boolean },
): Promise<Outcome> {
  const command = { do: "bar-player", who, ...(name !== undefined && { username: name }) };
  if (!yes) {
    const { players } = await askIdentity<{ players: Barred[] }>(data, { ...command, dry_run: true });
    return planned(players, `Plan: bar ${players.map(wordsOf).join(", ")} and disconnect them`);
  }
  const answer = await askIdentity<{ players: Barred[] }>(data, command);
  return { json: answer, text: `Barred: ${answer.players.map(wordsOf).join(", ")}.` };
}

export async function unbarPlayer(who: string, { data }: { data: string }): Promise<Outcome> {
  const answer = await askIdentity<{ players: Barred[] }>(data, { do: "unbar-player", who });
  const isAny = answer.players.some(({ changed }) => changed);
  const names = answer.players.map(wordsOf).join(", ");
  return {
    json: answer,
    text: isAny ? `Can play again: ${names}.` : `${names} was not barred.`,
    exitCode: isAny ? 0 : 1,
  };
}

function wordsOf({ mc_uuid, username }: Barred): string {
  return username === "" ? mc_uuid : `${username} (${mc_uuid})`;
}
