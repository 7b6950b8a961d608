import { resolve } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { addBackupCommands } from "./backup/program.ts";
import { buildVersion, callerDir, defaultDataDir } from "./config.ts";
import { addMoveCommands } from "./move/program.ts";
import type { NanoOptions } from "./nano/run.ts";
import { CommandError, type Outcome, print } from "./output.ts";
import { addReaperCommand } from "./reaper/program.ts";

// Each command loads its code when it runs, so that `svc --help` answers at once.
const program = new Command("svc")
  .description("Control plane for Minecraft servers that sleep until a player comes.")
  .version(buildVersion, "-V, --version")
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError("(svc --help lists the commands)");

const dataOption = () =>
  new Option("--data <dir>", "folder of the local stack")
    .default(defaultDataDir)
    .argParser((dir) => resolve(callerDir, dir));
const jsonOption = () => new Option("--json", "print one JSON value instead of words");

function command(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description).addOption(dataOption()).addOption(jsonOption());
}

// Commander hands over arguments, then options, then the command itself.
function runs<O>(load: (options: O, ...args: string[]) => Promise<Outcome>) {
  return async (...given: unknown[]) => {
    const options = given.at(-2) as O & { json?: boolean };
    const args = given.slice(0, -2) as string[];
    print(await load(options, ...args), options.json ?? false);
  };
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("must be a whole number.");
  return Number(text);
}

function list(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(",").filter(Boolean)];
}

function repeat(text: string, before: string[] = []): string[] {
  return [...before, text];
}

function addStackCommands(): void {
  command(program, "up", "install, start and announce the whole stack on this machine")
    .option("--detach", "return once the stack is ready; it runs on in the background")
    .addOption(
      new Option("--ports <mode>", "fixed ports, or any free ones")
        .choices(["fixed", "auto"])
        .default("fixed"),
    )
    .option("--replicas <service=n>", "run more than one of a service (repeatable)", repeat)
    .option("--only <services>", "start only these services (comma separated)", list)
    .option("--set <section.key=value>", "override a setting (repeatable)", repeat)
    .action(runs(async (options: never) => (await import("./stack/up.ts")).up(options)));
  command(program, "down", "stop the stack that runs on the data folder").action(
    runs(async (options: { data: string }) => (await import("./stack/down.ts")).stopStack(options)),
  );
  command(program, "status", "what runs: processes, services and servers").action(
    runs(async (options: { data: string }) => (await import("./stack/status.ts")).status(options)),
  );
  command(program, "doctor", "look for what is wrong and say what to do about it").action(
    runs(async (options: { data: string }) => (await import("./stack/doctor.ts")).doctor(options)),
  );
}

function addDatabaseCommands(): void {
  const migrate = program.command("migrate").description("database schemas and cluster definitions");
  command(migrate, "up", "bring every schema and the cluster's definitions up to this build").action(
    runs(async () => (await import("./database/migrate.ts")).migrateAll()),
  );
}

function addEventCommand(): void {
  command(program, "events [subject]", "follow what happens, for example 'svc.evt.lifecycle.>'")
    .option("--since <span>", "begin with what happened this long ago, for example 1h")
    .option("--no-follow", "end after what is there already")
    .action(
      async (
        subject: string | undefined,
        options: { data: string; follow: boolean; since?: string; json?: boolean },
      ) => (await import("./mesh/events.ts")).followEvents(subject ?? "svc.evt.>", options),
    );
}

function addAccountCommands(): void {
  const account = program.command("account").description("who you are to this stack");
  command(account, "setup", "become the owner of a new stack and sign this command line in")
    .requiredOption("--email <address>", "address to verify; the code is mailed to it")
    .option("--code <digits>", "the mailed code, when it is known already")
    .option("--link <url>", "setup link, when stack.json has none")
    .action(runs(async (options: never) => (await import("./account/setup.ts")).setUpOwner(options)));
  command(account, "link <code>", "make the player yours who reads this code in the game").action(
    runs(async (options: { data: string }, code) =>
      (await import("./account/link.ts")).linkPlayer(code ?? "", options),
    ),
  );
}

function addHostCommands(): void {
  const yes = () => new Option("--yes", "do it; without it only the plan is printed");
  command(program, "setup", "make a link for the first owner, valid for 30 minutes").action(
    runs(async (options: never) => (await import("./host/rescue.ts")).setupLink(options)),
  );
  const rescue = program.command("break-glass").description("ways back in, on the database alone; audited");
  command(rescue, "recover-owner", "make a link that signs its holder in as the owner")
    .addOption(yes())
    .action(runs(async (options: never) => (await import("./host/rescue.ts")).recoverOwner(options)));
  command(rescue, "add-operator <name>", "create an admin with a sign-in link")
    .addOption(yes())
    .action(
      runs(async (options: never, name) =>
        (await import("./host/rescue.ts")).addOperator(name ?? "", options),
      ),
    );
  command(rescue, "local-auth <on|off>", "open or close the local-password door")
    .addOption(yes())
    .action(
      runs(async (options: never, wanted) =>
        (await import("./host/rescue.ts")).setLocalAuth(wanted ?? "", options),
      ),
    );
  command(rescue, "set-password <user>", "set a local password, read from standard input")
    .addOption(yes())
    .action(
      runs(async (options: never, who) => (await import("./host/rescue.ts")).setPassword(who ?? "", options)),
    );
  command(rescue, "lift-lock <user>", "let mailed codes sign a user in again")
    .addOption(yes())
    .action(
      runs(async (options: never, who) => (await import("./host/rescue.ts")).liftLock(who ?? "", options)),
    );
  command(program, "rotate-token <caller>", "give velocity, limbo, build or ops a new service token")
    .addOption(yes())
    .action(
      runs(async (options: never, caller) =>
        (await import("./host/tokens.ts")).rotate(caller ?? "", options),
      ),
    );
}

function addUserCommands(): void {
  const user = program.command("user").description("accounts, read from the database");
  command(user, "list", "every user, newest first")
    .option("--query <text>", "part of a name or an address")
    .action(runs(async (options: never) => (await import("./host/users.ts")).listUsers(options)));
  command(user, "show <user>", "one user by name, id or verified address").action(
    runs(async (options: never, who) => (await import("./host/users.ts")).showUser(who ?? "", options)),
  );
  command(program, "audit-export", "write the audit log as JSON lines to a new file")
    .requiredOption("--out <file>", "file to make")
    .option("--since <time>", "RFC 3339")
    .option("--until <time>", "RFC 3339")
    .action(runs(async (options: never) => (await import("./host/users.ts")).exportAudit(options)));
}

function addServerCommands(): void {
  const server = program.command("server").description("game servers");
  command(server, "create <name>", "create a sleeping server")
    .option("--subdomain <label>", "label under the root domain (default: its name)")
    .addOption(
      new Option("--policy <who>", "who may wake it by joining").choices([
        "ownerOnly",
        "public",
        "allowlist",
      ]),
    )
    .option("--idle <seconds>", "stop after this many empty seconds; 0 never", wholeNumber)
    .option("--memory <quantity>", "memory limit, for example 2Gi")
    .option("--storage <quantity>", "world volume, for example 8Gi")
    .option("--image <ref>", "server image")
    .option("--node <name>", "node to run on")
    .action(
      runs(async (options: never, name) =>
        (await import("./server/commands.ts")).createServer(name ?? "", options),
      ),
    );
  command(server, "wake <name>", "wake a server")
    .option("--wait", "follow it until players may join")
    .action(
      runs(async (options: never, name) =>
        (await import("./server/commands.ts")).wakeServer(name ?? "", options),
      ),
    );
  command(server, "stop <name>", "stop a server")
    .option("--wait", "follow it until it has stopped")
    .action(
      runs(async (options: never, name) =>
        (await import("./server/commands.ts")).stopServer(name ?? "", options),
      ),
    );
  command(server, "status <name>", "everything known of one server").action(
    runs(async (options: never, name) =>
      (await import("./server/commands.ts")).serverStatus(name ?? "", options),
    ),
  );
  command(server, "list", "every server").action(
    runs(async (options: never) => (await import("./server/commands.ts")).listServers(options)),
  );
}

function addManifestCommands(): void {
  const manifests = program.command("manifests").description("files for other ways to run svc");
  command(manifests, "compose", "write secrets and configuration for compose.yaml")
    .requiredOption("--out <dir>", "folder to write")
    .action(
      runs(async (options: { out: string }) => (await import("./compose/write.ts")).writeCompose(options)),
    );
  command(manifests, "setup-link", "wait for the first owner's setup link and print it")
    .requiredOption("--file <path>", "file in which identity leaves it")
    .action(
      runs(async (options: { file: string }) =>
        (await import("./compose/setup-link.ts")).printSetupLink(options),
      ),
    );
}

function addNanoCommand(): void {
  program
    .command("nano")
    .description("the session verifier alone: hasJoined for a proxy, without database, NATS and cluster")
    .option("--config <file>", "configuration file; only [[auth_source]] and [identity] matter")
    .option("--listen <host:port>", "where it answers", "127.0.0.1:8081")
    .option("--set <section.key=value>", "override a setting (repeatable)", repeat)
    .action(async (options: NanoOptions) => (await import("./nano/run.ts")).runNano(options));
}

function addVersionCommand(): void {
  command(program, "version", "version of this build").action(
    runs(async () => ({
      json: { version: buildVersion, node: process.version },
      text: `svc ${buildVersion} on Node ${process.version}`,
    })),
  );
}

function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  const isOurs = error instanceof CommandError || (error instanceof Error && error.name.endsWith("Error"));
  process.stderr.write(`svc: ${isOurs ? message : `unexpected: ${message}`}\n`);
  process.exitCode = 1;
}

addStackCommands();
addDatabaseCommands();
addEventCommand();
addAccountCommands();
addHostCommands();
addUserCommands();
addServerCommands();
addBackupCommands(program, { command, runs });
addMoveCommands(program, { command, runs });
addReaperCommand(program, { command, runs });
addManifestCommands();
addNanoCommand();
addVersionCommand();
await program.parseAsync().catch(fail);
