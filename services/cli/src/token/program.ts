import { type Command, Option } from "commander";
import { type Common, command, group, list, runs, wholeNumber } from "../program.ts";
import type { TokenOptions } from "./commands.ts";

const load = () => import("./commands.ts");

export function addTokenCommands(program: Command): void {
  const token = group(program, "token", "API tokens of your account, for scripts");
  command(token, "create <name>", {
    does: "create a token and print its secret, which is shown this once",
    example: "token create deploy --right see,power --server survival --days 30",
  })
    .addOption(
      new Option(
        "--right <rights>",
        "what it may do, comma separated, such as see,power; a wrong one lists all",
      )
        .argParser(list)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--server <names>", "at these servers, comma separated (default: all of yours)").argParser(
        list,
      ),
    )
    .option("--days <days>", "days until it expires", wholeNumber, 90)
    .action(
      runs(async (options: Common & TokenOptions, name) => (await load()).createToken(name ?? "", options)),
    );
  command(token, "list", { does: "your tokens with their last use", example: "token list" }).action(
    runs(async (options) => (await load()).listTokens(options)),
  );
  command(token, "revoke <id>", {
    does: "end a token at once, by its id or its name",
    example: "token revoke deploy",
  }).action(runs(async (options, id) => (await load()).revokeToken(id ?? "", options)));
}
