import { ownership as contracts } from "@svc/proto";

/** The caller's servers, their settings and who may wake them. */
export const ownership = {
  listMine: contracts.listMine,
  patchMine: contracts.patchMine,
  listAllowlist: contracts.listAllowlist,
  changeAllowlist: contracts.changeAllowlist,
  listActivity: contracts.listActivity,
};
