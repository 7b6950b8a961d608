import type { GameServer, Player } from "flying-squid";

/**
 * flying-squid tells the others of the newcomer's list, the newcomer of nobody, and of no entry that it is to be shown.
 * It sets both functions anew with every player.
 */
export function listPlayers(server: GameServer): void {
  const add = (to: Player, players: readonly Player[]) =>
    to._client.write("player_info", {
      action: { add_player: true, update_game_mode: true, update_listed: true, update_latency: true },
      data: players.map(({ uuid, username, gameMode, profileProperties, _client }) => ({
        uuid,
        player: { name: username, properties: profileProperties ?? [] },
        gamemode: gameMode,
        listed: 1,
        latency: _client.latency ?? 0,
      })),
    });
  server._sendPlayerList = (to) => add(to, server.players);
  server._sendPlayerEventNewJoin = (player) => {
    for (const other of server.players) if (other !== player) add(other, [player]);
  };
}
