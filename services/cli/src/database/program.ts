import type { Command } from "commander";
import { command, group, runs } from "../program.ts";

export function addDatabaseCommands(program: Command): void {
  const migrate = group(program, "migrate", "database schemas and cluster definitions");
  command(migrate, "up", {
    does: "bring every schema and the cluster's definitions up to this build",
    example: "migrate up",
  }).action(runs(async (options) => (await import("./migrate.ts")).migrateAll(options)));
}
