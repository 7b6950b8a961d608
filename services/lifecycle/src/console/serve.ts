import type { Mesh } from "@svc/mesh";
import { consoles, servers } from "@svc/proto";
import type { ServerDeps } from "../server/deps.ts";
import { command } from "./command.ts";
import type { ConsoleDeps } from "./deps.ts";
import { type FollowersDeps, startFollowers } from "./followers.ts";
import { changeGroup, changePermission, readLuckPerms } from "./luck-perms.ts";
import * as access from "./player-access.ts";
import { createServerRcon, type ServerRcon } from "./rcon.ts";
import { restart } from "./restart.ts";
import { watch } from "./watch.ts";

type ConsoleNeeds = FollowersDeps & { mesh: Mesh; deps: ServerDeps };

/** Serves the operations and follows logs until closed; shares its RCON connections. */
export function startConsole(needs: ConsoleNeeds): { rcon: ServerRcon; close: () => Promise<void> } {
  const { mesh } = needs;
  const rcon = createServerRcon(needs.deps);
  const followers = startFollowers(needs);
  const deps: ConsoleDeps = { ...needs.deps, mesh, rcon, followers };
  mesh.serve(consoles.watch, watch(deps));
  mesh.serve(consoles.command, command(deps));
  mesh.serve(consoles.listWhitelist, access.listWhitelist(deps));
  mesh.serve(consoles.changeWhitelist, access.changeWhitelist(deps));
  mesh.serve(consoles.listPlayers, access.listPlayers(deps));
  mesh.serve(consoles.listBans, access.listBans(deps));
  mesh.serve(consoles.changeBan, access.changeBan(deps));
  mesh.serve(consoles.kick, access.kick(deps));
  mesh.serve(consoles.changePermission, changePermission(deps));
  mesh.serve(consoles.changeGroup, changeGroup(deps));
  mesh.serve(servers.restart, restart(deps));
  mesh.serve(consoles.readLuckPerms, readLuckPerms(deps));
  return {
    rcon,
    close: async () => {
      await Promise.all([rcon.close(), followers.close()]);
    },
  };
}
