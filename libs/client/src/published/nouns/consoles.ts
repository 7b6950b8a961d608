import { consoles as contracts } from "@svc/proto";
import { events } from "../marked.ts";

/** Log lines, commands, and what commands do for players. */
export const consoles = {
  watch: events(contracts.watch),
  command: contracts.command,
  listWhitelist: contracts.listWhitelist,
  changeWhitelist: contracts.changeWhitelist,
  listPlayers: contracts.listPlayers,
  listBans: contracts.listBans,
  changeBan: contracts.changeBan,
  kick: contracts.kick,
  changePermission: contracts.changePermission,
  changeGroup: contracts.changeGroup,
  readLuckPerms: contracts.readLuckPerms,
};
