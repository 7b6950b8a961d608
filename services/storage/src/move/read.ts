import type { Handler } from "@svc/mesh";
import type { migrations } from "@svc/proto";
import { assertUserName } from "../access.ts";
import type { StorageDeps } from "../deps.ts";
import { findMove, findMoveBackup, findMoveBackups, listMoves } from "./store.ts";
import { toMoveView } from "./view.ts";

export const list =
  ({ db }: Pick<StorageDeps, "db">): Handler<typeof migrations.list> =>
  async () => {
    const rows = await listMoves(db);
    const backups = await findMoveBackups(db, rows);
    return { migrations: rows.map((row) => toMoveView(row, backups.get(row.backup_id ?? ""))) };
  };

export const readLatest =
  ({ db }: Pick<StorageDeps, "db">): Handler<typeof migrations.readLatest> =>
  async (context, { name }) => {
    assertUserName(name);
    const row = await findMove(db, name);
    if (!row) throw context.fault("not_found", { message: `The world of ${name} was never moved.` });
    return toMoveView(row, await findMoveBackup(db, row));
  };

export const read =
  ({ db }: Pick<StorageDeps, "db">): Handler<typeof migrations.read> =>
  async (context, { name, id }) => {
    assertUserName(name);
    const row = await findMove(db, name, id);
    if (!row) throw context.fault("not_found", { message: `There is no such move of ${name}.` });
    return toMoveView(row, await findMoveBackup(db, row));
  };
