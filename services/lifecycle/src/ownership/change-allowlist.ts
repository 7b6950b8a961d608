import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { isUserName } from "@svc/proto";

import type { ServerRow } from "../database/server-row.ts";
import { callerOf, mayManage } from "./caller.ts";
import { type contracts, findRow, type OwnershipDeps } from "./deps.ts";

export const changeAllowlist =
  (deps: OwnershipDeps): Handler<typeof contracts.changeAllowlist> =>
  async (context, { name, uuid, can_wake }) => {
    if (!isUserName(name)) throw context.fault("bad_name");
    const check = (row: ServerRow) => {
      if (mayManage(row, callerOf(context))) return;
      throw context.fault("forbidden", {
        message: "Only the owner of a server, or staff, may change who can wake it.",
      });
    };
    check(await findRow(deps, name));
    const action = can_wake ? "allowlist.restore" : "allowlist.revoke";
    const audit = { ...auditActor(context), action, server_name: name, payload: { mc_uuid: uuid } };
    const right = { name, player: uuid, canWake: can_wake };
    const outcome = await deps.lists.setWakeRight(right, { check, audit });
    if (outcome === "unlisted") {
      throw context.fault("not_found", { message: "This player has never joined the server." });
    }
    return null;
  };
