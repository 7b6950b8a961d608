// A log can be applied by the version of PostgreSQL alone that wrote it.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Base } from "./folder.ts";
import type { ServerProgram } from "./server.ts";

const run = promisify(execFile);

export async function checkVersion(program: ServerProgram, bases: readonly Base[]): Promise<void> {
  const { command, args } = program;
  const { stdout } = await run(command, [...args, "--version"], { cwd: "/" });
  const own = / (\d{1,4})(?:\.|devel|beta|rc)/.exec(stdout)?.[1];
  for (const { about } of bases) {
    const [needed] = about.postgresql.split(/[.a-z]/);
    if (own !== needed)
      throw new Error(
        `the archive is of PostgreSQL ${needed} and this is ${own ?? "unknown"}; set SVC_POSTGRES_BIN to the folder with its programs`,
      );
  }
}
