import { type Command, Option } from "commander";
import { command, group, runs } from "../program.ts";
import type { LoginOptions } from "./login.ts";
import type { SetupOptions } from "./setup.ts";

const way = () =>
  new Option("--with <way>", "how you prove who you are").choices(["host", "email", "operator"]);

export function addAccountCommands(program: Command): void {
  const account = group(program, "account", "who you are to this stack");
  command(account, "setup", {
    does: "become the owner of a new stack and sign this command line in; begin again as often as needed",
    example: "account setup --email you@example.net",
  })
    .requiredOption("--email <address>", "address to verify; the code is mailed to it")
    .option("--code <digits>", "the code that was mailed, when it is known already")
    .option("--link <url>", "setup link, when stack.json has none")
    .action(runs(async (options: SetupOptions) => (await import("./setup.ts")).setUpOwner(options)));
  command(account, "login", {
    does: "sign this command line in; on the stack's own machine the data folder is proof enough",
    example: "account login",
  })
    .addOption(way())
    .option("--email <address>", "your verified address, for the ways email and operator")
    .option("--code <digits>", "the code that was mailed, when it is known already")
    .action(runs(async (options: LoginOptions) => (await import("./login.ts")).login(options)));
  command(account, "reauth", {
    does: "prove once more that it is you; changes to ways in ask for that",
    example: "account reauth",
  })
    .addOption(way())
    .action(runs(async (options: LoginOptions) => (await import("./prove.ts")).reauth(options)));
  command(account, "logout", { does: "end this command line's session", example: "account logout" }).action(
    runs(async (options) => (await import("./logout.ts")).logout(options)),
  );
  command(account, "whoami", { does: "who is signed in here", example: "account whoami" }).action(
    runs(async (options) => (await import("./whoami.ts")).whoAmI(options)),
  );
  command(account, "link <code>", {
    does: "make the player yours who reads this code in the game",
    example: "account link QY6NWHXD",
  }).action(runs(async (options, code) => (await import("./link.ts")).linkPlayer(code ?? "", options)));
}
