import type { Command } from "commander";
import { command, group, runs, yes } from "../program.ts";

type Options = { data: string; yes?: boolean; snapshot: boolean; stop?: boolean; backup?: string };

const load = () => import("./commands.ts");

export function addBackupCommands(program: Command): void {
  command(program, "backup-now [names...]", {
    does: "back up all servers, or the named ones",
    example: "backup-now survival --stop --yes",
  })
    .option("--stop", "stop running servers for the backup and start them again")
    .addOption(yes())
    .action(runs(async (options: Options, ...names) => (await import("./now.ts")).backupNow(names, options)));
  const backup = group(program, "backup", "backups of worlds");
  command(backup, "list [server]", {
    does: "list backups, newest first",
    example: "backup list survival",
  }).action(runs(async (options: Options, server) => (await load()).listBackups(server, options)));
  command(backup, "jobs <server>", {
    does: "list backup, restore and export jobs of a server",
    example: "backup jobs survival",
  }).action(
    runs(async (options: Options, server) =>
      (await load()).listJobs((await load()).required(server, "server"), options),
    ),
  );
  command(backup, "queue", {
    does: "show running jobs and servers waiting for a scheduled backup",
    example: "backup queue",
  }).action(runs(async (options: Options) => (await load()).showQueue(options)));
  addMarks(backup);
  addRestores(backup);
  command(backup, "drill <server>", {
    does: "test a backup: restore it to a scratch volume and boot the server there",
    example: "backup drill survival",
  })
    .option("--backup <id>", "backup to use (default: the latest)")
    .action(
      runs(async (options: Options, server) =>
        (await load()).drill((await load()).required(server, "server"), options),
      ),
    );
}

function addMarks(backup: Command): void {
  command(backup, "label <id> <text>", {
    does: "label a backup",
    example: "backup label bk-1 'before the update'",
  }).action(
    runs(async (options: Options, id, label) =>
      (await load()).annotate(id ?? "", { label: label ?? "" }, options),
    ),
  );
  for (const [verb, pinned] of [
    ["pin", true],
    ["unpin", false],
  ] as const) {
    const what = pinned ? "keep a backup until it is unpinned" : "let a backup expire again";
    command(backup, `${verb} <id>`, { does: what, example: `backup ${verb} bk-1` }).action(
      runs(async (options: Options, id) => (await load()).annotate(id ?? "", { pinned }, options)),
    );
  }
}

function addRestores(backup: Command): void {
  command(backup, "files <id> [path]", {
    does: "list the files in a backup",
    example: "backup files bk-1 world",
  }).action(
    runs(async (options: Options, id, path) => (await load()).listFiles(id ?? "", path ?? "", options)),
  );
  command(backup, "diff <since> <id> [path]", {
    does: "show which files changed from one backup to another",
    example: "backup diff bk-1 bk-2 world/region",
  }).action(
    runs(async (options: Options, ...[since = "", id = "", path = ""]) =>
      (await load()).diff({ since, id, path }, options),
    ),
  );
  command(backup, "restore <id>", {
    does: "replace a server's world with a backup",
    example: "backup restore bk-1 --yes",
  })
    .option("--no-snapshot", "do not back up the current world first")
    .addOption(yes())
    .action(runs(async (options: Options, id) => (await load()).restore(id ?? "", [], options)));
  command(backup, "restore-files <id> <paths...>", {
    does: "restore single files and folders",
    example: "backup restore-files bk-1 world/level.dat --yes",
  })
    .option("--no-snapshot", "do not back up the current world first")
    .addOption(yes())
    .action(runs(async (options: Options, id, ...paths) => (await load()).restore(id ?? "", paths, options)));
}
