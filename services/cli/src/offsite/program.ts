import { type Command, InvalidArgumentError, Option } from "commander";
import { type Common, command, group, runs, wholeNumberIn, yes } from "../program.ts";

const commands = () => import("./commands.ts");
const keys = () => import("./keys.ts");

export function addOffsiteCommands(program: Command): void {
  const offsite = group(program, "offsite", "sealed copies in a bucket elsewhere, and their keys");
  command(offsite, "sync", {
    does: "copy what is not in the bucket yet; exit code 1 when an object failed or another host writes, 3 for a wrong key",
    example: "offsite sync",
  }).action(runs(async (options) => (await commands()).sync(options)));
  command(offsite, "status", {
    does: "the newest pass and what is missing; exit code 1 when copies are stale, incomplete or damaged, or another host writes, 3 for a wrong key",
    example: "offsite status",
  }).action(runs(async (options) => (await commands()).status(options)));
  command(offsite, "list", { does: "list what is in the bucket", example: "offsite list" }).action(
    runs(async (options) => (await commands()).list(options)),
  );
  command(offsite, "verify", {
    does: "open copies to their last byte and send damaged ones again; exit code 1 when one is damaged or the store does not answer for it, 3 for a wrong key",
    example: "offsite verify --sample 20",
  })
    .option(
      "--sample <count>",
      "check the newest bundle and this many objects of each other kind instead of everything",
      wholeNumberIn(1),
    )
    .action(runs(async (options: Common & { sample?: number }) => (await commands()).verify(options)));
  command(offsite, "take-over", {
    does: "make this host the writer of the bucket; exit code 4 when the plan was not confirmed",
    example: "offsite take-over --yes",
  })
    .addOption(yes())
    .action(runs(async (options: Common & { yes?: boolean }) => (await commands()).takeOver(options)));
  addFetchCommands(offsite);
  addIndexedFetchCommands(offsite);
  addKeyCommands(offsite);
}

function addFetchCommands(offsite: Command): void {
  command(offsite, "fetch-db [bundle]", {
    does: "fetch a database bundle, the latest unless one is named, for svc db restore",
    example: "offsite fetch-db",
  })
    .option("--force", "take the latest even if it looks empty")
    .action(
      runs(async (options: Common & { force?: boolean }, bundle) =>
        (await commands()).fetchDb(bundle ?? "latest", options),
      ),
    );
  command(offsite, "fetch-wal", {
    does: "fetch the log of the database, for svc db at and svc db restore --to; exit code 1 when a part cannot be fetched",
    example: "offsite fetch-wal --at 2026-11-22T12:00:00Z",
  })
    .addOption(at("only what this time needs, such as 2026-11-22T12:00:00Z"))
    .action(runs(async (options: Fetching) => (await commands()).fetchWal(options)));
  command(offsite, "fetch-worlds", {
    does: "fetch the archives of backups whose files are missing or damaged; exit code 1 when one cannot be found",
    example: "offsite fetch-worlds",
  }).action(runs(async (options) => (await commands()).fetchWorlds(options)));
}

type Fetching = Common & { at?: Date };
const at = (does: string) =>
  new Option("--at <time>", does).argParser((text: string) => {
    const time = new Date(text);
    if (Number.isNaN(time.getTime()))
      throw new InvalidArgumentError("It must be a time such as 2026-11-22T12:00:00Z.");
    return time;
  });
const listAt = () => at("what the newest list until this time names, such as 2026-11-22T12:00:00Z");

function addIndexedFetchCommands(offsite: Command): void {
  command(offsite, "fetch-images", {
    does: "fetch images that the registry does not have; exit code 1 when one could not be fetched",
    example: "offsite fetch-images",
  })
    .addOption(listAt())
    .action(runs(async (options: Fetching) => (await commands()).fetchImages(options)));
  command(offsite, "fetch-uploads", {
    does: "fetch the contexts of submissions whose files are missing; exit code 1 when one could not be fetched",
    example: "offsite fetch-uploads",
  })
    .addOption(listAt())
    .action(runs(async (options: Fetching) => (await commands()).fetchUploads(options)));
}

type Written = Common & { out?: string };

function addKeyCommands(offsite: Command): void {
  command(offsite, "keygen", {
    does: "make a key for off-site copies and write it to a new file, 0600",
    example: "offsite keygen --sheet",
  })
    .option("--out <file>", "file other than offsite.key_file")
    .option("--rotate", "keep the existing keys for reading")
    .option("--sheet", "print the recovery sheet of the new key")
    .addOption(yes())
    .action(
      runs(async (options: Written & { rotate?: boolean; sheet?: boolean; yes?: boolean }) =>
        (await keys()).generate(options),
      ),
    );
  command(offsite, "check-key", {
    does: "compare the key with the one that the bucket is sealed with; exit code 3 when it is another",
    example: "offsite check-key",
  }).action(runs(async (options) => (await keys()).check(options)));
  command(offsite, "recovery-sheet", {
    does: "print a key as words, to be kept on paper",
    example: "offsite recovery-sheet",
  })
    .option("--key <id>", "id of an older key")
    .action(runs(async (options: Common & { key?: string }) => (await keys()).showSheet(options)));
  command(offsite, "restore-key", {
    does: "read a recovery sheet from standard input and write the key to a new file, 0600",
    example: "offsite restore-key < sheet.txt",
  })
    .option("--out <file>", "file other than offsite.key_file")
    .option("--add", "add it to the file as an older key, for reading")
    .action(runs(async (options: Written & { add?: boolean }) => (await keys()).restore(options)));
}
