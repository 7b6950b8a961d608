import { listen } from "@svc/minecraft";
import type { Logger } from "@svc/telemetry";
import type { LobbyConfig } from "./config.ts";
import { createLobby } from "./lobby.ts";

/** Connections that are not players yet: probes, pings, and logins under way. */
const spareConnections = 256;

export async function startLobby({ config, log }: { config: LobbyConfig; log: Logger }) {
  const { host, gamePort, maxPlayers, forwardingSecret } = config;
  if (!forwardingSecret)
    log.warn("SVC_FORWARDING_SECRET_FILE is not set: anyone who reaches this port can claim any name");
  const lobby = createLobby({ maxPlayers });
  const listener = await listen({
    host,
    port: gamePort,
    trust: forwardingSecret ? { kind: "forwarded", secret: forwardingSecret } : { kind: "offline" },
    status: () => ({ description: "svc lobby", playersOnline: lobby.players(), playersMax: maxPlayers }),
    onPlayer: lobby.admit,
    onRefused: ({ code, message }, address) => log.debug({ code, address }, `connection refused: ${message}`),
    onBroken: (error) => log.error({ err: error }, "login failed unexpectedly"),
    maxConnections: maxPlayers + spareConnections,
    // All players come from the proxy's address.
    maxPerAddress: maxPlayers + spareConnections,
  });
  return {
    gamePort: listener.port,
    players: lobby.players,
    close: async () => {
      listener.stopAccepting();
      await lobby.close();
      await listener.close();
    },
  };
}
