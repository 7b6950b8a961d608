import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StackError } from "../error.ts";
import { chooseAccount, commandAs } from "./account.ts";
import { findPostgres } from "./binaries.ts";

type PostgresProgram = { command: string; args: string[]; uid?: number; gid?: number };

/**
 * How to start `postgres` on a scratch folder of the caller, as this account may: the embedded one, or that of a folder of
 * programs. Where it runs as another account, the files must belong to that.
 */
export async function findPostgresProgram(folder?: string): Promise<PostgresProgram> {
  if (folder !== undefined && !existsSync(join(folder, "postgres")))
    throw new StackError(`${folder} has no program postgres; SVC_POSTGRES_BIN names the folder that has it`);
  const native = folder === undefined ? (await findPostgres()).native : dirname(folder);
  return commandAs(await chooseAccount(native, join(tmpdir(), "svc-scratch")), "postgres", []);
}
