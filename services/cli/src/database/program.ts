import type { Command } from "commander";
import { command, group, runs } from "../program.ts";

export function addDatabaseCommands(program: Command): void {
  const migrate = group(program, "migrate", "database schemas and cluster definitions");
  command(migrate, "up", {
    does: "migrate all schemas, streams and cluster definitions to this version",
    example: "migrate up",
  }).action(runs(async (options) => (await import("./migrate.ts")).migrateAll(options)));
}
