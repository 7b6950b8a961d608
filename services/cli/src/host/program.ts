import type { Command } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";

const rescue = () => import("./rescue.ts");

export function addHostCommands(program: Command): void {
  command(program, "setup", {
    does: "create a setup link for the first owner, valid for 30 minutes",
    example: "setup",
  }).action(runs(async (options) => (await rescue()).setupLink(options)));
  addRescueCommands(group(program, "break-glass", "regain access with the database alone; audited"));
  command(program, "rotate-token <caller>", {
    does: "replace the service token of velocity, limbo, build, ops or sftp",
    example: "rotate-token velocity --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Common & { yes?: boolean }, caller) =>
        (await import("./tokens.ts")).rotate(caller ?? "", options),
      ),
    );
  command(program, "audit-export", {
    does: "export the audit log as JSON lines to a new file",
    example: "audit-export --out audit.jsonl --since 7d",
  })
    .requiredOption("--out <file>", "output file")
    .option("--since <time>", "from: a span such as 1h or 2d, a date, or an RFC 3339 time")
    .option("--until <time>", "until: the same")
    .action(
      runs(async (options: Common & { out: string; since?: string; until?: string }) =>
        (await import("./audit.ts")).exportAudit(options),
      ),
    );
}

function addRescueCommands(parent: Command): void {
  command(parent, "recover-owner", {
    does: "create a sign-in link for the owner",
    example: "break-glass recover-owner --yes",
  })
    .addOption(yes())
    .action(runs(async (options: never) => (await rescue()).recoverOwner(options)));
  command(parent, "add-operator <name>", {
    does: "create an admin and a sign-in link",
    example: "break-glass add-operator alex --yes",
  })
    .addOption(yes())
    .action(runs(async (options: never, name) => (await rescue()).addOperator(name ?? "", options)));
  command(parent, "local-auth <on|off>", {
    does: "enable or disable sign-in by local password",
    example: "break-glass local-auth on --yes",
  })
    .addOption(yes())
    .action(runs(async (options: never, wanted) => (await rescue()).setLocalAuth(wanted ?? "", options)));
  command(parent, "set-password <user>", {
    does: "set a local password, read from standard input",
    example: "break-glass set-password alex --yes < password.txt",
  })
    .addOption(yes())
    .action(runs(async (options: never, who) => (await rescue()).setPassword(who ?? "", options)));
  command(parent, "lift-lock <user>", {
    does: "lift the lock on a user's mailed codes",
    example: "break-glass lift-lock alex --yes",
  })
    .addOption(yes())
    .action(runs(async (options: never, who) => (await rescue()).liftLock(who ?? "", options)));
}
