import { type Command, InvalidArgumentError } from "commander";
import { type Common, command, group, runs } from "../program.ts";
import type { AcknowledgeOptions, SilenceOptions } from "./commands.ts";

const load = () => import("./commands.ts");

function hours(text: string): number {
  const value = Number(text);
  if (!(value >= 0.25 && value <= 168)) throw new InvalidArgumentError("must be 0.25 to 168.");
  return value;
}

export function addWatchdogCommands(program: Command): void {
  command(program, "watchdog", {
    does: "check everything once and notify staff; exit code 1 when an alert reaches nobody or the check fails",
    example: "watchdog --dry-run",
  })
    .option("--dry-run", "send nothing and store nothing")
    .action(runs(async (options: Common & { dryRun?: boolean }) => (await load()).watch(options)));
  const alerts = group(program, "alerts", "alerts of the watchdog: list, silence and acknowledge them");
  command(alerts, "list", {
    does: "list firing alerts; exit code 1 when there is one, or when no run ended within ten minutes",
    example: "alerts list",
  }).action(runs(async (options) => (await load()).listAlerts(options)));
  command(alerts, "history", {
    does: "list what happened to alerts, newest first",
    example: "alerts history",
  }).action(runs(async (options) => (await load()).listHistory(options)));
  command(alerts, "silence <key>", {
    does: "send nothing about an alert for some hours unless it becomes critical; server/* matches every alert that begins with it, * matches all",
    example: 'alerts silence "server/*" --hours 4 --reason "moving to a new node"',
  })
    .requiredOption("--hours <number>", "0.25 to 168", hours)
    .requiredOption("--reason <text>", "why, for others")
    .action(runs(async (options: SilenceOptions, key) => (await load()).silence(key ?? "", options)));
  command(alerts, "end-silence <id>", {
    does: "end a silence before its time",
    example: "alerts end-silence 0a1b2c3d4e5f6071",
  }).action(runs(async (options, id) => (await load()).endSilence(id ?? "", options)));
  command(alerts, "acknowledge <key>", {
    does: "acknowledge an alert: no daily reminder until it is resolved or becomes critical",
    example: "alerts acknowledge disk//var/lib/svc",
  })
    .option("--note <text>", "a note for others")
    .action(runs(async (options: AcknowledgeOptions, key) => (await load()).acknowledge(key ?? "", options)));
  command(alerts, "test", {
    does: "send a test mail and a test through every channel; exit code 1 when one fails",
    example: "alerts test",
  }).action(runs(async (options) => (await load()).sendTest(options)));
}
