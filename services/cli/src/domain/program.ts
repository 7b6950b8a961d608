import type { Command } from "commander";
import { command, group, runs, wholeNumber } from "../program.ts";
import type { DomainOptions } from "./check.ts";

export function addDomainCommands(program: Command): void {
  const domain = group(program, "domain", "the names of an installation");
  command(domain, "check [domain]", {
    does: "check that the names of a root domain resolve to the panel and the proxy, and check their certificates; exit code 1 when one fails",
    example: "domain check play.example.net --resolver 9.9.9.9",
  })
    .option(
      "--resolver <address>",
      "ask this name server, so that the hosts file and caches of this machine do not count",
    )
    .option("--game-port <number>", "port of the proxy", wholeNumber)
    .option("--panel-port <number>", "port of the panel", wholeNumber)
    .option("--plain-http", "the panel is served without TLS")
    .action(
      runs(async (options: DomainOptions, given) => (await import("./check.ts")).checkDomain(given, options)),
    );
}
