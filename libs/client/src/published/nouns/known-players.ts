import { knownPlayers as contracts } from "@svc/proto";

/** Who plays on one's servers and how much, notes about them, and changes of several bans and whitelists at once. */
export const knownPlayers = {
  list: contracts.list,
  read: contracts.read,
  readAccess: contracts.readAccess,
  changeAccess: contracts.changeAccess,
  addNote: contracts.addNote,
  removeNote: contracts.removeNote,
};
