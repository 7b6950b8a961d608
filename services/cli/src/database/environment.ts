import { findMigrateEnv } from "@svc/local-stack";
import { environment, migrateEnvironment } from "../config.ts";
import { stackHint } from "../hint.ts";
import { CommandError } from "../output.ts";

/**
 * Variables of commands on the database: those given if they name an administrator, otherwise the local stack of the data
 * folder, otherwise those of a service, whose role may do less.
 */
export function databaseVariables(data: string): NodeJS.ProcessEnv {
  const given = environment();
  const { adminUrl, databaseUrl, rolePasswordsFile } = migrateEnvironment(given);
  if (adminUrl || rolePasswordsFile) return given;
  const local = findMigrateEnv(data);
  if (local) return { ...given, ...local };
  if (databaseUrl) return given;
  throw new CommandError(
    `no stack was started on ${data} yet; start one with ${stackHint("up", data)}, or set SVC_ADMIN_DATABASE_URL and SVC_ROLE_PASSWORDS_FILE`,
  );
}
