import type { Command } from "commander";
import { type Common, command, runs } from "../program.ts";

export function addSupportCommand(program: Command): void {
  command(program, "support-bundle", {
    does: "write an archive for support, without secrets and addresses of people",
    example: "support-bundle --out svc-support.tar.gz",
  })
    .option("--out <file>", "output file; default: svc-support-<time>.tar.gz in the current folder")
    .action(
      runs(async (options: Common & { out?: string }) =>
        (await import("./bundle.ts")).writeSupportBundle(options),
      ),
    );
}
