import { type Command, Option } from "commander";
import { type Common, command, group, runs, wholeNumber } from "../program.ts";
import type { AcceptOptions } from "./commands.ts";

const load = () => import("./commands.ts");
const repository = () =>
  new Option("--repository <name>", "of the images of host/name alone (default: of every image)");

export function addAcceptanceCommands(program: Command): void {
  const acceptance = group(program, "acceptance", "findings of scans that are accepted as known risks");
  command(acceptance, "list", {
    does: "accepted findings with reason, author and end, newest first",
    example: "acceptance list",
  })
    .addOption(repository())
    .action(
      runs(async (options: Common & { repository?: string }) => (await load()).listAcceptances(options)),
    );
  command(acceptance, "add <finding>", {
    does: "accept a finding until a day; of the same finding and package the last one counts",
    example: 'acceptance add CVE-2026-0001 --package log4j-core --reason "not reachable" --days 30',
  })
    .addOption(new Option("--package <name>", "its package, or of a secret its file").makeOptionMandatory())
    .addOption(new Option("--reason <text>", "why it is no risk here").makeOptionMandatory())
    .addOption(repository())
    .option("--days <days>", "days until it blocks again", wholeNumber, 30)
    .action(
      runs(async (options: Common & AcceptOptions, finding) =>
        (await load()).acceptFinding(finding ?? "", options),
      ),
    );
  command(acceptance, "remove <id>", {
    does: "end an acceptance",
    example: "acceptance remove 5f0c4e0a53f04b0e9a550d1d36e4c1de",
  }).action(runs(async (options, id) => (await load()).removeAcceptance(id ?? "", options)));
}
