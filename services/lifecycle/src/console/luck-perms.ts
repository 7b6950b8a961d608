// Permissions and groups in LuckPerms (docs/reference/console.md#access).

import type { Handler } from "@svc/mesh";
import { consoles, Fault } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";
import { authorizeCommands } from "./authorize.ts";
import { audit, type ConsoleDeps } from "./deps.ts";
import { isUnknownCommand, type Permission, parseInfoPage, splitGroups } from "./reply/luck-perms.ts";

export const changePermission =
  (deps: ConsoleDeps): Handler<typeof consoles.changePermission> =>
  async (context, { name, action, player, node, value, world }) => {
    if (action === "unset" && value !== undefined)
      throw context.fault("bad_request", {
        message: "value is only allowed with the action set; leave it out.",
      });
    const what = action === "set" ? `set ${node} ${value ?? true}` : `unset ${node}`;
    const where = world === undefined ? "" : ` world=${world}`;
    const command = `lp user ${player} permission ${what}${where}`;
    const to = consoles.changePermission;
    const server = await authorizeCommands(deps, context, { name, to, command });
    const payload = {
      action,
      player,
      node,
      ...(action === "set" && { value: value ?? true }),
      ...(world && { world }),
    };
    await audit(deps, context, { action: "access.permission", server_name: name, payload });
    const output = checked(await deps.rcon.run(server, command));
    return { name, action, player, node, output };
  };

export const changeGroup =
  (deps: ConsoleDeps): Handler<typeof consoles.changeGroup> =>
  async (context, { name, action, player, group }) => {
    const command = `lp user ${player} parent ${action} ${group}`;
    const server = await authorizeCommands(deps, context, { name, to: consoles.changeGroup, command });
    await audit(deps, context, {
      action: "access.group",
      server_name: name,
      payload: { action, player, group },
    });
    const output = checked(await deps.rcon.run(server, command));
    return { name, action, player, group, output };
  };

export const readLuckPerms =
  (deps: ConsoleDeps): Handler<typeof consoles.readLuckPerms> =>
  async (context, { name, player }) => {
    const server = await authorizeCommands(deps, context, { name, to: consoles.readLuckPerms });
    const { replies, permissions } = await readPages(deps, server, player);
    return { player, ...splitGroups(permissions), output: replies.join("\n") };
  };

async function readPages(deps: ConsoleDeps, server: Server, player: string) {
  const replies: string[] = [];
  const permissions: Permission[] = [];
  for (let page = 1, pages = 1; page <= Math.min(pages, deps.settings.luckperms_pages); page++) {
    const suffix = page === 1 ? "" : ` ${page}`;
    const reply = checked(await deps.rcon.query(server, `lp user ${player} permission info${suffix}`));
    // LuckPerms answers asynchronously; servers that do not wait for it lose the reply (LuckPerms issue 1365). An empty
    // reply does not mean that there are no permissions.
    if (reply.trim() === "") throw new Fault("unavailable", { message: noReply });
    const found = parseInfoPage(reply);
    if (page === 1) pages = found.pages;
    replies.push(reply);
    permissions.push(...found.permissions);
  }
  return { replies, permissions };
}

const noReply = "LuckPerms gave no reply over RCON; its own log shows the result.";

function checked(reply: string): string {
  if (isUnknownCommand(reply)) throw new Fault("luckperms_missing");
  return reply;
}
