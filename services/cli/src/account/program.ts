import { type Command, Option } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";
import type { LoginOptions } from "./login.ts";
import type { SetupOptions } from "./setup.ts";

const way = (...more: string[]) =>
  new Option("--with <way>", "how to sign in").choices(["host", "email", "operator", ...more]);

export function addAccountCommands(program: Command): void {
  const account = group(program, "account", "sign in, sign out and link your player");
  command(account, "setup", {
    does: "become the owner of a new stack and sign in; safe to repeat",
    example: "account setup --email you@example.net",
  })
    .requiredOption("--email <address>", "address to verify; the code is mailed to it")
    .option("--code <digits>", "the mailed code, if you already have it")
    .option("--link <url>", "setup link, when stack.json has none")
    .action(runs(async (options: SetupOptions) => (await import("./setup.ts")).setUpOwner(options)));
  command(account, "login", {
    does: "sign in: by the data folder of the stack, through the browser, or with a mailed code",
    example: "account login --browser",
  })
    .addOption(way("browser"))
    .option("--browser", "the same as --with browser: type a code on a page where you are signed in")
    .addOption(
      new Option("--host <which>", "which page, for the way browser: operators use the operator console")
        .choices(["panel", "operator"])
        .default("panel"),
    )
    .option("--email <address>", "your verified address, for the ways email and operator")
    .option("--code <digits>", "the mailed code, if you already have it")
    .action(runs(async (options: LoginOptions) => (await import("./login.ts")).login(options)));
  command(account, "reauth", {
    does: "confirm your identity again; changes to sign-in methods require it",
    example: "account reauth",
  })
    .addOption(way())
    .action(runs(async (options: LoginOptions) => (await import("./reauth.ts")).reauth(options)));
  command(account, "logout", { does: "sign out", example: "account logout" }).action(
    runs(async (options) => (await import("./logout.ts")).logout(options)),
  );
  command(account, "whoami", { does: "who is signed in here", example: "account whoami" }).action(
    runs(async (options) => (await import("./whoami.ts")).whoAmI(options)),
  );
  command(account, "link <code>", {
    does: "link the Minecraft player who was shown this code to your account",
    example: "account link QY6NWHXD",
  }).action(runs(async (options, code) => (await import("./link.ts")).linkPlayer(code ?? "", options)));
  addIdentities(account);
}

function addIdentities(account: Command): void {
  const load = () => import("./identities.ts");
  command(account, "identities", {
    does: "OpenID providers, and which of your identities there open your account",
    example: "account identities",
  }).action(runs(async (options) => (await load()).listIdentities(options)));
  command(account, "unlink-identity <identity>", {
    does: "unlink an identity by its id, or by its provider; your other sessions end",
    example: "account unlink-identity works --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Common & { yes?: boolean }, identity) =>
        (await load()).unlinkIdentity(identity ?? "", options),
      ),
    );
}
