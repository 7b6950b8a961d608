import { type Command, Option } from "commander";
import { type Common, command, group, runs, wholeNumber, yes } from "../program.ts";
import type { ScheduleOptions } from "./commands.ts";

const load = () => import("./commands.ts");
type Given = Common & ScheduleOptions;

const timing = (made: Command) =>
  made
    .option(
      "--every <minutes>",
      "15, 30, 60, 120, 180, 240, 360, 480 or 720 minutes between runs",
      wholeNumber,
    )
    .option("--at <hh:mm>", "once a day at this time")
    .option(
      "--when <trigger>",
      "instead of a time: first_player_joined, server_empty, server_started, server_crashed or backup_failed; none is the clock",
    )
    .option("--for <minutes>", "how long the server has to be empty (--when server_empty)", wholeNumber)
    .option("--pause <minutes>", "shortest time between two runs that a trigger begins", wholeNumber)
    .option("--days <days>", "comma separated: mon,tue,wed,thu,fri,sat,sun (default: all)")
    .option("--timezone <zone>", "an IANA time zone (default: this machine's)")
    .option("--warn <minutes>", "warn players 1, 5, 10, 15 or 30 minutes before; 0 never", wholeNumber)
    .option("--label <text>", "label")
    .option("--command <text>", "command to run, without a slash (action command)")
    .option(
      "--only-if <condition>",
      "condition of the first step: empty, players_online or played_since_success; none takes it away",
    )
    .option(
      "--then <step>",
      "a step behind the first, repeated for more: [wait=SECONDS] [only-if=CONDITION] ACTION [COMMAND]; CONDITION also previous_succeeded or previous_failed; none takes all away",
      (step: string, before: string[] | undefined) => [...(before ?? []), step],
    );

const action = (made: Command) =>
  made.addOption(
    new Option("--action <what>", "action").choices(["command", "restart", "stop", "start", "backup"]),
  );

export function addScheduleCommands(program: Command): void {
  const schedule = group(program, "schedule", "scheduled tasks of a server");
  command(schedule, "list <server>", {
    does: "list the tasks of a server with next and last runs",
    example: "schedule list survival",
  }).action(runs(async (options, server) => (await load()).listSchedules(server ?? "", options)));
  timing(
    action(
      command(schedule, "create <server>", {
        does: "add a task",
        example:
          'schedule create survival --action backup --at 04:00 --then "only-if=previous_failed command say No backup!"',
      }),
    ),
  )
    .option("--disabled", "keep the task disabled")
    .action(runs(async (options: Given, server) => (await load()).createSchedule(server ?? "", options)));
  timing(
    action(
      command(schedule, "update <server> <id>", {
        does: "change a task; options not given stay as they are",
        example: "schedule update survival 1 --at 05:00",
      }),
    ),
  )
    .option("--disable", "keep the task disabled")
    .option("--enable", "enable the task")
    .action(
      runs(async (options: Given, server, id) =>
        (await load()).updateSchedule(server ?? "", id ?? "", options),
      ),
    );
  command(schedule, "delete <server> <id>", {
    does: "delete a task",
    example: "schedule delete survival 1 --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Common & { yes?: boolean }, server, id) =>
        (await load()).deleteSchedule(server ?? "", id ?? "", options),
      ),
    );
  command(schedule, "run <server> <id>", {
    does: "run a task now, without a warning",
    example: "schedule run survival 1",
  }).action(runs(async (options, server, id) => (await load()).runSchedule(server ?? "", id ?? "", options)));
}
