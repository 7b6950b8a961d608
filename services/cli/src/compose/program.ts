import type { Command } from "commander";
import { command, group, runs } from "../program.ts";

export function addManifestCommands(program: Command): void {
  const manifests = group(program, "manifests", "files for other ways to run svc");
  command(manifests, "compose", {
    does: "write secrets and configuration for compose.yaml",
    example: "manifests compose --out /srv/svc/config",
  })
    .requiredOption("--out <dir>", "output folder")
    .action(runs(async (options: { out: string }) => (await import("./write.ts")).writeCompose(options)));
  command(manifests, "setup-link", {
    does: "wait for the first owner's setup link and print it",
    example: "manifests setup-link --file /data/setup-url",
  })
    .requiredOption("--file <path>", "file that identity writes the link to")
    .action(
      runs(async (options: { file: string }) => (await import("./setup-link.ts")).printSetupLink(options)),
    );
}
