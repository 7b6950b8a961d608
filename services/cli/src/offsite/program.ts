import type { Command } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";

const keys = () => import("./keys.ts");

export function addOffsiteCommands(program: Command): void {
  addKeyCommands(group(program, "offsite", "sealed copies in a bucket elsewhere, and their keys"));
}

type Written = Common & { out?: string };

function addKeyCommands(offsite: Command): void {
  command(offsite, "keygen", {
    does: "make a key for off-site copies and write it to a new file, 0600",
    example: "offsite keygen --sheet",
  })
    .option("--out <file>", "file other than offsite.key_file")
    .option("--rotate", "keep the keys that there are for reading")
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
