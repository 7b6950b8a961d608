// The file that `svc apply` reads: what a server should be (docs/reference/apply.md#file). It has what the operations of owners
// and operators can both read and set, so that it can be compared.

import { z } from "zod";
import { AccessLimits } from "../access/grant.ts";
import { isUserName } from "../lifecycle/names.ts";
import { AfterCrash, WhenHung } from "../lifecycle/restart-policy.ts";
import {
  maxPauseMinutes,
  maxSteps,
  maxTriggerMinutes,
  maxWaitSeconds,
  scheduleActions,
  scheduleIntervals,
  scheduleTriggers,
  scheduleWarnings,
  stepConditions,
  triggerDefaults,
} from "../lifecycle/schedule.ts";
import { AutostartPolicy } from "../lifecycle/server-info.ts";
import { MemberRight } from "../right.ts";
import { PlayerUuid, Quantity, Timestamp } from "../text.ts";

export const fileVersion = "svc/v1";

const UserName = z.string().refine(isUserName, "must be 3 to 32 of a-z, 0-9 and -, and not a reserved name");

/** What is left out stays as it is, and is the default of the installation when the server is created. */
export const FileSettings = z.strictObject({
  displayName: z
    .string()
    .max(256)
    .optional()
    .meta({ description: "Shown in lists; an empty text clears it." }),
  autostartPolicy: AutostartPolicy.optional().meta({ description: "Who may wake it by joining." }),
  idleStopSeconds: z
    .int()
    .refine((value) => value === 0 || (value >= 60 && value <= 86_400), "must be 0 (off) or 60 to 86400")
    .optional()
    .meta({ description: "Seconds without players before it stops: 0 (never) or 60 to 86400." }),
  image: z.string().min(1).max(512).optional().meta({ description: "Operators only." }),
  memory: Quantity.optional().meta({ description: "Such as 4Gi; operators only." }),
  cpu: Quantity.optional().meta({ description: "Such as 2 or 500m; operators only." }),
  storage: Quantity.optional().meta({ description: "Size of the world volume; only when it is created." }),
  subdomain: UserName.optional().meta({ description: "Default: its name; only when it is created." }),
  node: z.string().min(1).max(253).optional().meta({ description: "Only when it is created." }),
  owner: z.literal("me").optional().meta({ description: "Only when it is created: the caller." }),
});
export type FileSettings = z.output<typeof FileSettings>;

export const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
const intervals = scheduleIntervals.filter((minutes) => minutes !== 0);

const FileCommand = z.string().min(1).max(1_024).optional();
const ofCommand = { description: "With action command alone." };

/** A step behind the first. */
export const FileStep = z.strictObject({
  action: z.enum(scheduleActions),
  command: FileCommand.meta(ofCommand),
  wait: z.int().min(0).max(maxWaitSeconds).default(0).meta({ description: "Seconds before it." }),
  onlyIf: z.enum(stepConditions).optional(),
});

const problemOfCommand = ({ action, command }: { action: string; command?: string | undefined }) => {
  if (action === "command") return command === undefined ? "action command needs one" : undefined;
  return command === undefined ? undefined : `goes with action command alone, not ${action}`;
};

/** One task. */
export const FileSchedule = z
  .strictObject({
    label: z
      .string()
      .trim()
      .max(64)
      .default("")
      .meta({ description: "Tells tasks apart when one is changed." }),
    action: z.enum(scheduleActions),
    command: FileCommand.meta(ofCommand),
    at: z
      .string()
      .regex(/^([01]?\d|2[0-3]):[0-5]\d$/, "must be a time such as 04:30")
      .optional()
      .meta({ description: "Once a day at this time; or give every or when." }),
    every: z
      .literal(intervals)
      .optional()
      .meta({ description: "Minutes between two runs; or give at or when." }),
    when: z.enum(scheduleTriggers).optional().meta({ description: "What it runs on instead of the clock." }),
    for: z
      .int()
      .min(0)
      .max(maxTriggerMinutes)
      .optional()
      .meta({ description: `Minutes, with when: server_empty alone; left out: ${triggerDefaults.minutes}.` }),
    pause: z
      .int()
      .min(1)
      .max(maxPauseMinutes)
      .optional()
      .meta({
        description: `Minutes between two runs, with when alone; left out: ${triggerDefaults.pause}.`,
      }),
    days: z
      .array(z.enum(weekdays))
      .min(1)
      .default([...weekdays]),
    timezone: z.string().min(1).max(256).default("UTC").meta({ description: "Such as Europe/Berlin." }),
    warn: z.literal(scheduleWarnings).default(0).meta({ description: "Minutes before, for players." }),
    enabled: z.boolean().default(true),
    onlyIf: z
      .enum(stepConditions)
      .exclude(["previous_succeeded", "previous_failed"])
      .optional()
      .meta({ description: "Condition of the task's own action." }),
    nextSteps: z
      .array(FileStep)
      .max(maxSteps - 1)
      .default([])
      .meta({ description: "What follows the task's own action, in order." }),
  })
  .check(({ value, issues }) => {
    const refuse = (field: string, message: string, ...path: (string | number)[]) =>
      issues.push({ code: "custom", message, path: [...path, field], input: value });
    const times = [value.at, value.every, value.when].filter((one) => one !== undefined);
    if (times.length !== 1) refuse("at", "give one of at, every and when");
    const { when } = value;
    if (when !== "server_empty" && value.for !== undefined)
      refuse("for", "goes with when: server_empty alone");
    if (when === undefined && value.pause !== undefined) refuse("pause", "goes with when alone");
    if (when !== undefined && value.warn !== 0)
      refuse("warn", "nobody is warned of what nobody knows before");
    if (when !== undefined && value.days.length < weekdays.length)
      refuse("days", "goes with at or every alone");
    const wrong = problemOfCommand(value);
    if (wrong !== undefined) refuse("command", wrong);
    for (const [at, step] of value.nextSteps.entries()) {
      const problem = problemOfCommand(step);
      if (problem !== undefined) refuse("command", problem, "nextSteps", at);
    }
    if ((value.action === "command" || value.action === "start") && value.warn !== 0)
      refuse("warn", `action ${value.action} warns nobody`);
    const heavy = [value, ...value.nextSteps].find(({ action }) => action !== "command");
    if (heavy && value.every !== undefined && value.every < 60)
      refuse("every", `a ${heavy.action} repeats at most every 60 minutes`);
  });
export type FileSchedule = z.output<typeof FileSchedule>;

/** A player who joined, and whether they may wake the server under the policy `allowlist`. */
export const FileAllowlistEntry = z.strictObject({ player: PlayerUuid, canWake: z.boolean() });
export type FileAllowlistEntry = z.output<typeof FileAllowlistEntry>;

/** What svc does by itself when the server crashes or hangs; what is left out stays. */
export const FileRestart = z.strictObject({
  afterCrash: AfterCrash.optional(),
  whenHung: WhenHung.optional(),
  silentMinutes: z.int().min(5).max(120).optional(),
});
export type FileRestart = z.output<typeof FileRestart>;

const { read_paths, write_paths, allow_commands, deny_commands } = AccessLimits.shape;

/** Somebody who has accepted an invitation, with what they may do: all of it, as a list that is left out limits nothing. */
export const FileMember = z.strictObject({
  user: z.string().min(1).max(256).meta({ description: "User name." }),
  rights: z.array(MemberRight).min(1).max(32),
  readPaths: read_paths,
  writePaths: write_paths,
  allowCommands: allow_commands,
  denyCommands: deny_commands,
  until: Timestamp.optional().meta({ description: "Such as 2026-12-31T18:00:00Z; left out: no end." }),
});
export type FileMember = z.output<typeof FileMember>;

/** One document. */
export const ServerFile = z.strictObject({
  apiVersion: z.literal(fileVersion),
  kind: z.literal("Server"),
  name: UserName,
  settings: FileSettings.default({}),
  schedules: z
    .array(FileSchedule)
    .max(100)
    .optional()
    .meta({ description: "Left out: they stay as they are." }),
  allowlist: z
    .array(FileAllowlistEntry)
    .max(5_000)
    .optional()
    .meta({ description: "Players who are not named stay as they are." }),
  restart: FileRestart.optional(),
  members: z
    .array(FileMember)
    .max(200)
    .optional()
    .meta({ description: "Left out: they stay as they are. Nobody is invited by a file." }),
});
export type ServerFile = z.output<typeof ServerFile>;

/** JSON Schema of a document, for editors. */
export function serverFileSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(ServerFile, { io: "input", unrepresentable: "any" }),
    title: "A server of svc, for svc apply",
  };
}
