import { once } from "node:events";
import type { GameServer, ProtocolClient } from "flying-squid";
import type { AccessLists } from "../access/lists.ts";
import { type Log, oneLine } from "../console/log.ts";
import {
  type ForwardedPlayer,
  forwardingChannel,
  forwardingVersion,
  verifyForwarding,
} from "./forwarding.ts";
import { refusal } from "./rules.ts";

type Dependencies = {
  readonly lists: AccessLists;
  readonly log: Log;
  readonly maxPlayers: number;
  readonly forwardingSecrets: readonly string[] | undefined;
  readonly isStopping: () => boolean;
  /** Resolves when no player file is being written. */
  readonly savesSettled: () => Promise<void>;
};

const proxyOnly = "This server only accepts players from its proxy. Join through the proxy's address.";
const answerTimeoutMs = 10_000;

/** Stands before the server's own login: it sees each name first, and only passes on who may come in. */
export function installGate(server: GameServer, dependencies: Dependencies): void {
  const forwarded = new WeakMap<ProtocolClient, ForwardedPlayer>();
  const coming = new Map<string, ProtocolClient>();
  const othersThan = (name: string) => {
    const names = new Set([
      ...coming.keys(),
      ...server.players.map(({ username }) => username.toLowerCase()),
    ]);
    names.delete(name.toLowerCase());
    return names.size;
  };
  const leavePlace = (client: ProtocolClient) => {
    for (const [name, holder] of coming) if (holder === client) coming.delete(name);
  };
  server._server.options.beforeLogin = (client) => {
    const player = forwarded.get(client);
    if (!player) return;
    client.uuid = player.uuid;
    client.username = player.name;
    client.profile = { properties: player.properties };
  };
  server._server.on("connection", (client: ProtocolClient) => {
    refuseOtherVersions(server, client);
    const ownLogin = client.listeners("login_start");
    client.removeAllListeners("login_start");
    client.once("login_start", (packet: { username: string }) => {
      client.once("end", () => leavePlace(client));
      admit(client, packet.username)
        .then((player) => {
          if (player) forwarded.set(client, player);
          for (const listener of ownLogin) listener.call(client, packet);
        })
        .catch((error: Error) => turnAway(client, { error, name: packet.username, log: dependencies.log }));
    });
  });

  const admit = async (client: ProtocolClient, claimedName: string): Promise<ForwardedPlayer | undefined> => {
    const { forwardingSecrets, lists, maxPlayers, isStopping, savesSettled } = dependencies;
    const player = forwardingSecrets ? await askProxy(client, forwardingSecrets) : undefined;
    const name = player?.name ?? claimedName;
    const reason = refusal({
      name,
      lists,
      isStopping: isStopping(),
      online: othersThan(name),
      maxPlayers,
    });
    if (reason) throw new Refusal(reason);
    // From here on nobody else takes the place, however long the login lasts.
    coming.set(name.toLowerCase(), client);
    await leaveFirst(server, name);
    await savesSettled();
    return player;
  };
}

type Handshake = { protocolVersion: number; nextState: number };

/** The library would close the connection without a word, and the game says that it was lost. */
function refuseOtherVersions({ _server: { mcversion } }: GameServer, client: ProtocolClient): void {
  const own = client.listeners("set_protocol");
  client.removeAllListeners("set_protocol");
  client.once("set_protocol", (packet: Handshake) => {
    if (packet.nextState === 1 || packet.protocolVersion === mcversion.version) {
      for (const listener of own) listener.call(client, packet);
      return;
    }
    client.state = "login";
    client.removeAllListeners("login_start");
    client.end(
      `This server runs Minecraft ${mcversion.minecraftVersion}. Start your game as that version to play here.`,
    );
  });
}

class Refusal extends Error {}

function turnAway(
  client: ProtocolClient,
  { error, name, log }: { error: Error; name: string; log: Log },
): void {
  const isRefusal = error instanceof Refusal;
  if (isRefusal) log.info(oneLine(`Disconnecting ${name}: ${error.message}`));
  else log.error(error.stack ?? error.message);
  client.end(isRefusal ? error.message : "The login failed inside the server; its log says why.");
}

async function askProxy(client: ProtocolClient, secrets: readonly string[]): Promise<ForwardedPlayer> {
  const answered = once(client, "login_plugin_response", { signal: AbortSignal.timeout(answerTimeoutMs) });
  const left = once(client, "end").then(() => [{}]);
  client.write("login_plugin_request", {
    messageId: 1,
    channel: forwardingChannel,
    data: Buffer.of(forwardingVersion),
  });
  const [response] = await Promise.race([answered, left]).catch(() => [{}]);
  const { data } = response as { data?: Buffer };
  const player = data ? verifyForwarding(data, secrets) : undefined;
  if (!player) throw new Refusal(proxyOnly);
  return player;
}

/** As in vanilla the newcomer stays: the old connection is often one that died without saying so. */
async function leaveFirst(server: GameServer, name: string): Promise<void> {
  const same = server.players.find((player) => player.username.toLowerCase() === name.toLowerCase());
  if (!same || same.disconnected) return;
  const left = once(same, "disconnected");
  same.kick("You logged in from another location");
  await left;
}
