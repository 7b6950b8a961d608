import { type Command, Option } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";

const bundles = () => import("./bundles.ts");

export function addDatabaseCommands(program: Command): void {
  const migrate = group(program, "migrate", "database schemas and cluster definitions");
  command(migrate, "up", {
    does: "migrate all schemas, streams and cluster definitions to this version",
    example: "migrate up",
  })
    .option("--no-backup", "do not take a bundle before migrations of a database with data")
    .action(
      runs(async (options: Common & { backup: boolean }) =>
        (await import("./migrate.ts")).migrateAll(options),
      ),
    );
  addBundleCommands(group(program, "db", "database bundles: take, verify, list and restore backups"));
}

function addBundleCommands(db: Command): void {
  const label = new Option("--label <label>", "why it is taken; decides how long it is kept")
    .choices(["daily", "pre-migrate", "pre-restore", "offsite", "manual"])
    .default("manual");
  command(db, "backup", {
    does: "take a bundle now; exit code 1 when it lacks the server objects",
    example: "db backup",
  })
    .addOption(label)
    .action(runs(async (options: Common & { label: string }) => (await bundles()).backUp(options)));
  command(db, "list", { does: "list the bundles, newest first", example: "db list" }).action(
    runs(async (options) => (await bundles()).listBundles(options)),
  );
  command(db, "verify [bundle]", {
    does: "read a bundle, or all, to the last row; exit code 1 when one is damaged",
    example: "db verify",
  }).action(runs(async (options, bundle) => (await bundles()).verify(bundle, options)));
  command(db, "check", {
    does: "exit code 1 when the newest daily bundle is older than 26 hours or the newest one is incomplete",
    example: "db check",
  }).action(runs(async (options) => (await bundles()).check(options)));
  addRestoreCommands(db);
  addPointInTimeCommands(db);
  command(db, "audit-export", {
    does: "export the audit log as JSON lines to a new file",
    example: "db audit-export --out audit.jsonl --since 7d",
  })
    .requiredOption("--out <file>", "output file")
    .option("--since <time>", "from: a span such as 1h or 2d, a date, or an RFC 3339 time")
    .option("--until <time>", "until: the same")
    .action(
      runs(async (options: Common & { out: string; since?: string; until?: string }) =>
        (await import("../host/audit.ts")).exportAudit(options),
      ),
    );
}

type Confirmed = Common & { yes?: boolean };

function addRestoreCommands(db: Command): void {
  const restores = () => import("./restore.ts");
  command(db, "restore [bundle]", {
    does: "replace the whole database with a bundle; exit code 2 when the plan was not confirmed",
    example: "db restore db-20261122T033000Z-daily.tar",
  })
    .option("--to <time>", "instead of a bundle: the state at this time, as svc db at makes a bundle of it")
    .option("--force", "end other clients of the database")
    .option("--no-safety-backup", "do not take a pre-restore bundle first")
    .addOption(yes())
    .action(
      runs(async (options: Confirmed & { force?: boolean; safetyBackup: boolean; to?: string }, bundle) =>
        (await restores()).restore(bundle, options),
      ),
    );
  command(db, "rehearse [bundle]", {
    does: "restore a bundle into a scratch database, count and check it, and drop it",
    example: "db rehearse",
  }).action(runs(async (options, bundle) => (await restores()).rehearse(bundle, options)));
  command(db, "apply-servers [bundle]", {
    does: "recreate, stopped, the server objects that have a row but are missing in the cluster; exit code 1 when one is in no bundle",
    example: "db apply-servers --yes",
  })
    .addOption(yes())
    .action(runs(async (options: Confirmed, bundle) => (await restores()).applyServers(bundle, options)));
}

function addPointInTimeCommands(db: Command): void {
  const pointInTime = () => import("./point-in-time.ts");
  command(db, "wal", {
    does: "show what the archive of the write-ahead log covers; exit code 1 when it is on and stale or damaged",
    example: "db wal",
  }).action(runs(async (options) => (await pointInTime()).showArchive(options)));
  command(db, "at <time>", {
    does: "make a bundle of the state at a time from the archive of the write-ahead log; the database is not touched",
    example: "db at 2026-11-20T14:00:00Z",
  })
    .option("--from <dir>", "another folder of an archive")
    .option("--scratch <dir>", "where the scratch database is made; it needs the room of the whole database")
    .action(
      runs(async (options: Common & { from?: string; scratch?: string }, time) =>
        (await pointInTime()).recover(time ?? "", options),
      ),
    );
}
