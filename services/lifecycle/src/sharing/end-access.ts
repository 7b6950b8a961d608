// What ends with an access, in the transaction that ends it (docs/reference/shared-access.md#end).

import { members as contracts } from "@svc/proto";
import { outboxRow, type Trx } from "@svc/store";
import { sql } from "kysely";
import type { Tables } from "../database/schema.ts";
import { isMember } from "../database/shared-rows.ts";
import { deleteGroupsOf } from "../group/store.ts";
import { changeOf } from "../schedule/locked-server.ts";
import { deleteFiltersOf } from "../server-filter/store.ts";

type About = { server: string; userId: string };

export async function writeMembers(
  trx: Trx<Tables>,
  name: string,
  members: readonly unknown[],
): Promise<void> {
  const column = sql<unknown>`${JSON.stringify(members)}::jsonb`;
  await trx.updateTable("servers").set({ members: column }).where("name", "=", name).execute();
}

/** A step that is under way goes on to its end, and no other begins. */
export async function switchOffTasks(trx: Trx<Tables>, { server, userId }: About): Promise<void> {
  const at = new Date();
  await trx
    .updateTable("server_schedules")
    .set({ run_revoked: true })
    .where("server_name", "=", server)
    .where("saved_by", "=", userId)
    .where("run_state", "<>", "")
    .execute();
  const tasks = await trx
    .updateTable("server_schedules")
    .set({ enabled: false, next_run_at: null, updated_at: at })
    .where("server_name", "=", server)
    .where("saved_by", "=", userId)
    .where("enabled", "=", true)
    .returning(["id", "server_name"])
    .execute();
  if (tasks.length === 0) return;
  await trx
    .insertInto("outbox")
    .values(tasks.map((task) => changeOf(task, at)))
    .execute();
}

export async function endInvitationsBy(trx: Trx<Tables>, { server, userId }: About): Promise<void> {
  await openBy(trx, userId).where("server_name", "=", server).execute();
}

/** Of an account that is deleted or merged: every access that it has, every invitation that it made, its groups and filters. */
export async function endAccessOf(trx: Trx<Tables>, userId: string): Promise<void> {
  const rows = await trx
    .selectFrom("servers")
    .select(["name", "members"])
    // Its own servers too, which its end changes as well: whoever locks several does it in the order of their names.
    .where((where) =>
      where.or([where("owner_id", "=", userId), where("created_by", "=", userId), isMember(userId)]),
    )
    .orderBy("name")
    .forUpdate()
    .execute();
  for (const { name, members } of rows) {
    const before = members as readonly { user_id?: unknown }[];
    const others = before.filter((one) => one.user_id !== userId);
    if (others.length === before.length) continue;
    await writeMembers(trx, name, others);
    await switchOffTasks(trx, { server: name, userId });
    const event = outboxRow(contracts.accessChanged, { name, at: new Date().toISOString() });
    await trx.insertInto("outbox").values(event).execute();
  }
  await openBy(trx, userId).execute();
  await deleteGroupsOf(trx, userId);
  await deleteFiltersOf(trx, userId);
}

function openBy(trx: Trx<Tables>, userId: string) {
  return trx
    .updateTable("access_invitations")
    .set({ ended_at: sql<Date>`now()`, outcome: "revoked" })
    .where("invited_by", "=", userId)
    .where("ended_at", "is", null);
}
