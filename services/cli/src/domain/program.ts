import { Resolver } from "node:dns";
import { Argument, type Command, InvalidArgumentError } from "commander";
import { command, group, runs, wholeNumberIn } from "../program.ts";
import type { DomainOptions } from "./check.ts";

const port = wholeNumberIn(1, 65_535);

export function addDomainCommands(program: Command): void {
  const domain = group(program, "domain", "the names of an installation");
  command(domain, "check", {
    does: "check that the names of a root domain resolve to the panel and the proxy, and check their certificates; exit code 1 when one fails",
    example: "domain check play.example.net --resolver 9.9.9.9",
  })
    .addArgument(
      new Argument("[domain]", "that of the local stack, unless given; taken without https://").argParser(
        domainName,
      ),
    )
    .option(
      "--resolver <address>",
      "ask this name server, so that the hosts file and caches of this machine do not count",
      nameServer,
    )
    .option("--game-port <number>", "port of the proxy", port)
    .option("--panel-port <number>", "port of the panel", port)
    .option("--plain-http", "the panel is served without TLS")
    .action(
      runs(async (options: DomainOptions, given) => (await import("./check.ts")).checkDomain(given, options)),
    );
}

function domainName(text: string): string {
  if (!/^[a-z\d-]+(\.[a-z\d-]+)*\.?$/i.test(text))
    throw new InvalidArgumentError("must be a domain such as play.example.net.");
  return text;
}

function nameServer(text: string): string {
  try {
    new Resolver().setServers([text]);
    return text;
  } catch {
    throw new InvalidArgumentError("must be an IP address such as 9.9.9.9.");
  }
}
