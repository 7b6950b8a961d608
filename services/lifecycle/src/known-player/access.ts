// One ban, pardon or change of the whitelist for several servers (docs/reference/players.md#access). Each server is asked as by
// its own operation, with its own rights and its own entry in the audit log, and answers for itself.

import type { Context, Handler } from "@svc/mesh";
import { type AnyContract, knownPlayers as contracts, Fault, faults, isFault } from "@svc/proto";
import { createSemaphore } from "@svc/service/semaphore";
import type { CommandDeps } from "../console/deps.ts";
import { ban, readBans, readWhitelist, whitelist } from "../console/player-access.ts";
import { takesCommands } from "../console/policy.ts";
import type { KnownPlayerDeps } from "./operations.ts";

type AccessDeps = KnownPlayerDeps & CommandDeps;

const serversAtOnce = 8;

export const changeAccess =
  (deps: AccessDeps): Handler<typeof contracts.changeAccess> =>
  async (context, { mc_uuid, action, servers }) => {
    const { player } = await findPlayer(deps, context, { mc_uuid, to: contracts.changeAccess });
    const { run } = createSemaphore(serversAtOnce);
    const results = servers.map((server) =>
      run(() => answerOf(server, () => act(deps, context, { name: server, action, player }))),
    );
    return { player, action, results: await Promise.all(results) };
  };

export const readAccess =
  (deps: AccessDeps): Handler<typeof contracts.readAccess> =>
  async (context, { mc_uuid }) => {
    const { player, reach } = await findPlayer(deps, context, { mc_uuid, to: contracts.readAccess });
    // Servers that sleep would only say so; the others are few.
    const awake = deps.servers.list().filter((server) => takesCommands(server));
    const names = awake.map(({ metadata }) => metadata.name).filter((name) => reach.includes(name));
    const { run } = createSemaphore(serversAtOnce);
    const read = names
      .sort()
      .slice(0, contracts.mostServers)
      .map((server) => run(() => answerOf(server, () => stateOf(deps, context, { name: server, player }))));
    return { player, servers: await Promise.all(read) };
  };

/** By the name that the player had at the last visit to one of these servers: commands of the game take names. */
async function findPlayer(
  deps: AccessDeps,
  context: Context<AnyContract>,
  { mc_uuid, to }: { mc_uuid: string; to: Pick<AnyContract, "http"> },
): Promise<{ player: string; reach: readonly string[] }> {
  const reach = await deps.reach(context.principal, to);
  const rows = await deps.known.rowsOf(mc_uuid, reach);
  const [last] = rows;
  if (!last) throw new Fault("known_player_not_found");
  // Staff have the right everywhere; they are shown the servers where the player was.
  return { player: last.name, reach: reach === "all" ? rows.map((row) => row.server_name) : reach };
}

type Wanted = { name: string; action: contracts.AccessAction; player: string };

async function act(deps: AccessDeps, context: Context<AnyContract>, { name, action, player }: Wanted) {
  if (action === "ban" || action === "pardon") {
    const { output } = await ban(deps, context, { name, action, player });
    return { output };
  }
  const { output } = await whitelist(deps, context, {
    ...{ name, player, action: action === "whitelist-add" ? "add" : "remove" },
  });
  return { output };
}

async function stateOf(
  deps: AccessDeps,
  context: Context<AnyContract>,
  { name, player }: { name: string; player: string },
) {
  const [bans, listed] = await Promise.all([
    readBans(deps, context, name),
    readWhitelist(deps, context, name),
  ]);
  const isIn = (names: readonly string[]) => names.some((one) => one.toLowerCase() === player.toLowerCase());
  return { banned: isIn(bans.players), whitelisted: isIn(listed.players) };
}

/** A refusal of one server is its answer; what is no refusal fails the request. */
async function answerOf<T extends object>(server: string, work: () => Promise<T>) {
  try {
    return { server, ...(await work()) };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { server, error: { code: faults[error.fault].code as string, message: error.message } };
  }
}
