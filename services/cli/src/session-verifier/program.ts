import type { Command } from "commander";
import { command, repeat, streams } from "../program.ts";
import type { VerifierOptions } from "./run.ts";

export function addVerifierCommand(program: Command): void {
  command(program, "nano", {
    does: "run the session verifier alone (hasJoined for a proxy), without database, NATS or cluster",
    example: "nano --listen 127.0.0.1:8081",
  })
    .option("--config <file>", "configuration file; only [[auth_source]] and [identity] are used")
    .option("--listen <host:port>", "address to listen on", "127.0.0.1:8081")
    .option("--set <section.key=value>", "override a setting (repeatable)", repeat)
    .action(streams(async (options: VerifierOptions) => (await import("./run.ts")).runVerifier(options)));
}
