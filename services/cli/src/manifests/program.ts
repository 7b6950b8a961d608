import type { Command } from "commander";
import { type Common, command, group, runs } from "../program.ts";

type Options = Common & { values?: string };

export function addManifestCommands(program: Command): void {
  const manifests = group(program, "manifests", "files for running svc on a cluster or with compose.yaml");
  addClusterCommands(manifests);
  command(manifests, "compose", {
    does: "write secrets and configuration for compose.yaml",
    example: "manifests compose --out /srv/svc/config",
  })
    .requiredOption("--out <dir>", "output folder")
    .action(
      runs(async (options: { out: string }) => (await import("../compose/write.ts")).writeCompose(options)),
    );
  command(manifests, "setup-link", {
    does: "wait for the first owner's setup link and print it",
    example: "manifests setup-link --file /data/setup-url",
  })
    .requiredOption("--file <path>", "file that identity writes the link to")
    .action(
      runs(async (options: { file: string }) =>
        (await import("../compose/setup-link.ts")).printSetupLink(options),
      ),
    );
}

function addClusterCommands(manifests: Command): void {
  const values = ["--values <file>", "YAML file of values; the rest are the defaults"] as const;
  command(manifests, "render", {
    does: "print all objects of an installation, for kubectl apply",
    example: "manifests render --values values.yaml",
  })
    .option(...values)
    .action(runs(async (options: Options) => (await import("./commands.ts")).render(options)));
  command(manifests, "prerequisites", {
    does: "print the namespaces and the custom resource, which are applied first",
    example: "manifests prerequisites --values values.yaml",
  })
    .option(...values)
    .action(runs(async (options: Options) => (await import("./commands.ts")).prerequisites(options)));
  command(manifests, "secrets", {
    does: "print Secrets with new passwords, for kubectl create",
    example: "manifests secrets --values values.yaml",
  })
    .option(...values)
    .action(runs(async (options: Options) => (await import("./commands.ts")).secrets(options)));
  command(manifests, "nats-users", {
    does: "print the users of NATS and what each may do, for a NATS of your own",
    example: "manifests nats-users",
  }).action(runs(async () => (await import("./commands.ts")).natsUsers()));
}
