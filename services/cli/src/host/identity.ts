// Commands on the accounts' database: identity owns the SQL, so its own program is started for them.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { runHostProgram } from "@svc/config";
import { environment } from "../config.ts";
import { readStackFile } from "../stack-file.ts";

const program = resolve(import.meta.dirname, "../../../identity/src/host/main.ts");

/** Runs identity's program with one command. The database is SVC_DATABASE_URL, otherwise that of the local stack in `data`. */
export async function askIdentity<T>(
  data: string,
  command: { do: string; [option: string]: unknown },
): Promise<T> {
  const given = environment();
  const config = join(data, "svc.toml");
  const env = {
    ...given,
    SVC_DATABASE_URL: given["SVC_DATABASE_URL"] ?? readStackFile(data).database_url,
    ...(given["SVC_CONFIG"] === undefined && existsSync(config) && { SVC_CONFIG: config }),
  };
  return (await runHostProgram(program, command, { env })) as T;
}
