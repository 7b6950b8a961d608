import { type Command, Option } from "commander";
import { UsageError } from "../output.ts";
import { command, list, repeat, runs } from "../program.ts";

export function addStackCommands(program: Command): void {
  command(program, "up", {
    does: "start the whole stack on this machine",
    example: "up --detach --ports auto --data /srv/svc",
  })
    .option("--detach", "return once the stack is ready and leave it running")
    .addOption(
      new Option("--ports <mode>", "fixed ports, or any free ones")
        .choices(["fixed", "auto"])
        .default("fixed"),
    )
    .option("--replicas <service=n>", "number of replicas of a service, or nats=3 (repeatable)", repeat)
    .option("--only <services>", "start only these services (comma separated)", list)
    .option("--sftp", "also SFTP for files of worlds, on port 2222")
    .option("--set <section.key=value>", "override a setting (repeatable)", repeat)
    .addOption(
      new Option(
        "--unannounced",
        "do not print how to reach the ready stack; its log then has no setup link",
      ).hideHelp(),
    )
    .action(runs(async (options: never) => (await import("./up.ts")).up(options)));
  command(program, "down", { does: "stop the stack", example: "down" }).action(
    runs(async (options) => (await import("./down.ts")).stopStack(options)),
  );
  command(program, "status", {
    does: "show processes, services and servers",
    example: "status --json",
  }).action(runs(async (options) => (await import("./status.ts")).status(options)));
  command(program, "doctor", {
    does: "check the stack, or an installation on a cluster, and say what to do about problems",
    example: "doctor --cluster --values values.yaml",
  })
    .option("--cluster", "check the installation on the cluster that kubectl uses, not the local stack")
    .option("--kubeconfig <file>", "the kubeconfig of that cluster, if it is not kubectl's own")
    .option("--values <file>", "the values of that installation; the rest are the defaults")
    .action(
      runs(async (options: { cluster?: boolean; kubeconfig?: string; values?: string; data: string }) => {
        if (options.cluster) return (await import("../cluster/doctor/doctor.ts")).diagnoseCluster(options);
        if (options.kubeconfig !== undefined || options.values !== undefined)
          throw new UsageError("--kubeconfig and --values belong to --cluster; add it");
        return (await import("./doctor.ts")).doctor(options);
      }),
    );
}
