// Commands on the accounts' database: identity owns the SQL, so its own program is started for them.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { environment } from "../config.ts";
import { CommandError } from "../output.ts";
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
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(command));
  const [out, error, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done) => child.once("close", done)),
  ]);
  if (code !== 0) throw new CommandError(error.trim().split("\n").at(-1) ?? "identity's program failed");
  return JSON.parse(out) as T;
}
