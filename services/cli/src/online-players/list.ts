import { type OutputOf, players } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { type Outcome, table } from "../output.ts";

type Online = OutputOf<typeof players.list>["players"];

/** Online players and their servers, over all proxies. */
export async function listPlayers(options: { data: string }): Promise<Outcome> {
  const answer = await connectExternal(options.data).call(players.list, {});
  return { json: answer, text: wordsOf(answer.players) };
}

export function wordsOf(online: Online): string {
  if (online.length === 0) return "No players are online.";
  const rows = online.map(({ name, server = "-", since, mc_uuid, proxy }) => [
    ...[name, server, since, mc_uuid, proxy],
  ]);
  return table([["PLAYER", "SERVER", "SINCE", "UUID", "PROXY"], ...rows]);
}
