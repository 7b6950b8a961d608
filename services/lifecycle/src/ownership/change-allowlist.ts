import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { isUserName } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import type { ServerRow } from "../database/server-row.ts";
import { contracts, findRow, type OwnershipDeps } from "./deps.ts";

export const changeAllowlist =
  (deps: OwnershipDeps): Handler<typeof contracts.changeAllowlist> =>
  async (context, { name, uuid, can_wake }) => {
    if (!isUserName(name)) throw context.fault("bad_name");
    const check = (row: ServerRow) => {
      assertAccess(context, { name, row, to: contracts.changeAllowlist });
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
