import { type Command, Option } from "commander";
import type { Outcome } from "../output.ts";

/** How commands are made in main.ts. */
export type Maker = {
  command: (parent: Command, usage: string, description: string) => Command;
  runs: <O>(
    load: (options: O, ...args: string[]) => Promise<Outcome>,
  ) => (...given: unknown[]) => Promise<void>;
};

type Options = { data: string; yes?: boolean; snapshot: boolean; stop?: boolean; backup?: string };

const load = () => import("./commands.ts");
const yes = () => new Option("--yes", "do it; without it only the plan is printed");

export function addBackupCommands(program: Command, maker: Maker): void {
  const { command, runs } = maker;
  command(program, "backup-now [names...]", "back up every server, or those that are named")
    .option("--stop", "stop servers that run, and start them again")
    .addOption(yes())
    .action(
      runs(async (options: Options, ...names) => (await import("./now.ts")).backupNow(names.flat(), options)),
    );
  const backup = program.command("backup").description("backups of worlds");
  command(backup, "list [server]", "present backups, newest first").action(
    runs(async (options: Options, server) => (await load()).listBackups(server, options)),
  );
  command(backup, "jobs <server>", "what is and was done to a server's world").action(
    runs(async (options: Options, server) =>
      (await load()).listJobs((await load()).needed(server, "server"), options),
    ),
  );
  addMarks(backup, maker);
  addRestores(backup, maker);
  command(backup, "drill <server>", "prove a backup: boot the server on it in a scratch volume")
    .option("--backup <id>", "which one (default: the latest)")
    .action(
      runs(async (options: Options, server) =>
        (await load()).drill((await load()).needed(server, "server"), options),
      ),
    );
}

function addMarks(backup: Command, { command, runs }: Maker): void {
  command(backup, "label <id> <text>", "write a label on a backup").action(
    runs(async (options: Options, id, label) =>
      (await load()).annotate(id ?? "", { label: label ?? "" }, options),
    ),
  );
  for (const [verb, pinned] of [
    ["pin", true],
    ["unpin", false],
  ] as const) {
    const what = pinned ? "keep a backup until it is unpinned" : "let a backup expire again";
    command(backup, `${verb} <id>`, what).action(
      runs(async (options: Options, id) => (await load()).annotate(id ?? "", { pinned }, options)),
    );
  }
}

function addRestores(backup: Command, { command, runs }: Maker): void {
  command(backup, "files <id> [path]", "look into a backup").action(
    runs(async (options: Options, id, path) => (await load()).listFiles(id ?? "", path ?? "", options)),
  );
  command(backup, "restore <id>", "put a backup in the place of its server's world")
    .option("--no-snapshot", "without a backup of the world as it is")
    .addOption(yes())
    .action(runs(async (options: Options, id) => (await load()).restore(id ?? "", [], options)));
  command(backup, "restore-files <id> <paths...>", "put back single files and folders")
    .option("--no-snapshot", "without a backup of the world as it is")
    .addOption(yes())
    .action(
      runs(async (options: Options, id, ...paths) => (await load()).restore(id ?? "", paths.flat(), options)),
    );
}
