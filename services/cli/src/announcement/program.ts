import { type Command, Option } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";
import type { At, CreateOptions, SetOptions } from "./commands.ts";

const load = () => import("./commands.ts");

function givenOptions(one: Command): Command {
  return one
    .option("--zh <text>", "the text in Chinese")
    .addOption(new Option("--severity <severity>", "how it is shown").choices(["info", "warning"]))
    .option("--start <time>", "when it begins, such as 2026-12-31T18:00Z")
    .option("--end <time>", "when it ends")
    .option("--for <span>", "how long it lasts, such as 90m or 2h, instead of --end");
}

export function addAnnouncementCommands(program: Command): void {
  const announce = group(program, "announce", "announce a message to everybody, or schedule maintenance");
  command(announce, "list", {
    does: "what is planned, current and was announced",
    example: "announce list",
  }).action(runs(async (options: Common & At) => (await load()).list(options)));
  givenOptions(
    command(announce, "create <text>", {
      does: "announce a text from --start (default: now) to --end, or plan a maintenance window",
      example:
        'announce create "We move to new disks." --maintenance --start 2026-12-31T18:00Z --for 2h --public',
    }),
  )
    .option("--maintenance", "maintenance: no server is woken from its start to its end")
    .option("--public", "show it without signing in, too")
    .option("--id <id>", "an id you choose, so that repeating the command makes no second one")
    .action(
      runs(async (options: Common & CreateOptions, text) => (await load()).create(text ?? "", options)),
    );
  givenOptions(
    command(announce, "set <id>", {
      does: "change one that is planned or current; what is not given stays",
      example: "announce set ann-0a1b --for 3h",
    }),
  )
    .option("--text <text>", "another text")
    .option("--no-zh", "without a Chinese text")
    .action(runs(async (options: Common & SetOptions, id) => (await load()).set(id ?? "", options)));
  command(announce, "end <id>", {
    does: "end one now, or withdraw one that is planned",
    example: "announce end ann-0a1b --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Common & At & { yes?: boolean }, id) => (await load()).end(id ?? "", options)),
    );
}
