// A game server of the bench, and players who join it through a relay: both ends are bare sockets in the play phase.

import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type Connection, dial, findVersion, listen, offlineUuid, type Player } from "@svc/minecraft";

const found = findVersion(769);
if (!found) throw new Error("there is no 1.21.4");
export const version = found;
export const settleMs = 300;

export type Joined = { client: Socket; server: Socket; end: () => void };

/** Starts a server; `join` goes through the relay on a port and answers the player's end and the server's. */
export async function startServer(threshold = 256) {
  const arrivals: ((player: Player) => void)[] = [];
  const server = await listen({
    ...{ host: "127.0.0.1", port: 0, trust: { kind: "offline" }, threshold },
    status: () => ({ description: "bench", playersOnline: 0, playersMax: 1 }),
    onPlayer: async (player) => {
      player.connection.send(version.configuration.toClient.id("finish_configuration"));
      await player.connection.next();
      arrivals.shift()?.(player);
    },
  });
  const join = async (port: number): Promise<Joined> => {
    const arrived = new Promise<Player>((resolve) => arrivals.push(resolve));
    const profile = { uuid: offlineUuid("Bench"), name: "Bench", properties: [] };
    const client = await dial(
      { name: "relay", host: "127.0.0.1", port },
      { version, profile, address: "127.0.0.1" },
    );
    const finish = version.configuration.toClient.id("finish_configuration");
    for (let packet = await client.next(); packet.id !== finish; packet = await client.next());
    client.send(version.configuration.toServer.id("finish_configuration"));
    const far = (await arrived).connection;
    const ends = { client: bare(client), server: bare(far) };
    // Without a listener a resumed socket throws its bytes away; what the relay still says on the way in goes there.
    await delay(settleMs);
    const end = () => {
      client.destroy();
      far.destroy();
    };
    return { ...ends, end };
  };
  return { port: server.port, join };
}

function bare({ socket }: Connection): Socket {
  socket.removeAllListeners("data").removeAllListeners("drain");
  return socket.resume();
}
