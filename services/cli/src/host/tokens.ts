import { existsSync } from "node:fs";
import { join } from "node:path";
import { rotateToken } from "@svc/local-stack";
import { CommandError, type Outcome, planned, UsageError } from "../output.ts";

const callers = ["velocity", "limbo", "build", "ops", "sftp"] as const;

/** Replaces the token of a caller of the internal face; the old one stops working within a second. */
export async function rotate(caller: string, options: { data: string; yes?: boolean }): Promise<Outcome> {
  const known = callers.find((name) => name === caller);
  if (!known) throw new UsageError(`unknown caller ${caller}; must be one of ${callers.join(", ")}`);
  const file = join(options.data, "tokens", known);
  if (!existsSync(file))
    throw new CommandError(`no stack was started on ${options.data} yet: there is no ${file}`);
  if (!options.yes) {
    const what = `replace the token of ${known}; the old one stops working within a second`;
    return planned(what, `Plan: ${what}`);
  }
  rotateToken(options.data, known);
  return {
    json: { rotated: known },
    text: `New token for ${known}: ${file}. Programs that read this file pick it up by themselves.`,
  };
}
