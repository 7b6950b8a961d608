import type { Trx } from "@svc/store";
import type { Tables } from "./schema.ts";

/** Of a server that is gone, before its name can belong to another one. */
export async function deleteHistory(trx: Trx<Tables>, name: string): Promise<void> {
  await trx.deleteFrom("server_history").where("server_name", "=", name).execute();
  await trx.deleteFrom("server_phases").where("server_name", "=", name).execute();
  await trx.deleteFrom("status_pages").where("server_name", "=", name).execute();
  await trx.deleteFrom("server_crashes").where("server_name", "=", name).execute();
  await trx.deleteFrom("known_players").where("server_name", "=", name).execute();
}
