// `svc update plan` and `svc update rollback` (docs/reference/updates.md#plan): both only print.

import type { updates } from "@svc/proto";
import { migrateEnvironment } from "../config.ts";
import { databaseVariables } from "../database/environment.ts";
import { findPending } from "../database/rights.ts";
import { askWatchdog } from "../database/watchdog.ts";
import type { Outcome } from "../output.ts";
import { windowText } from "./check.ts";

type Options = { data: string };
type Step = { title: string; commands: string[]; undo: string | null; why?: string };
type Plan = {
  components: { name: string; current?: string; latest?: string; steps: Step[] }[];
  window: updates.UpdateWindow | null;
  newest_bundle?: { name: string; at: string };
};
type Rollback = {
  dir: string;
  migrations?: number;
  release?: string;
  steps: Step[];
} & (
  | {
      kind: "restore";
      bundle: { name: string; takenAt: string; migrations: number };
      same_schema_since?: string;
    }
  | { kind: "reinstall"; since: string }
  | { kind: "none" }
);

export async function printPlan(components: readonly string[], { data }: Options): Promise<Outcome> {
  const env = databaseVariables(data);
  const [plan, pending] = await Promise.all([
    askWatchdog<Plan>(env, { do: "plan-update", components }),
    pendingMigrations(env),
  ]);
  const text = [
    ...(plan.components.length === 0
      ? ["No update is available. Name a component to see its steps, for example: svc update plan platform"]
      : plan.components.map(componentText)),
    pendingText(pending),
    plan.newest_bundle
      ? `The newest bundle is ${plan.newest_bundle.name}, taken at ${plan.newest_bundle.at}.`
      : "There is no bundle that could be restored.",
    windowText(plan.window, Date.now()),
    "Nothing was done.",
  ].join("\n\n");
  return { json: { ...plan, pending_migrations: pending }, text };
}

/** Null when the database does not answer. */
async function pendingMigrations(env: NodeJS.ProcessEnv): Promise<string[] | null> {
  const { adminUrl } = migrateEnvironment(env);
  return adminUrl ? findPending(adminUrl).catch(() => null) : null;
}

function pendingText(pending: readonly string[] | null): string {
  if (pending === null) return "Pending migrations are unknown: the database does not answer.";
  if (pending.length === 0)
    return "This build has no pending migrations. A new release lists its own with `svc update plan`.";
  return [
    "Pending migrations of this build, which cannot be undone:",
    ...pending.map((one) => `  ${one}`),
  ].join("\n");
}

function componentText({ name, current, latest, steps }: Plan["components"][number]): string {
  const versions = [current, latest].filter((one) => one !== undefined).join(" to ");
  return [versions === "" ? `${name}:` : `${name}, ${versions}:`, ...steps.flatMap(stepLines)].join("\n");
}

function stepLines({ title, commands, undo, why }: Step, index: number): string[] {
  return [
    `  ${index + 1}. ${title}`,
    ...commands.map((line) => `       ${line}`),
    undo === null ? `     CANNOT BE UNDONE. ${why ?? ""}`.trimEnd() : `     To undo: ${undo}`,
  ];
}

export async function printRollback({ data }: Options): Promise<Outcome> {
  const found = await askWatchdog<Rollback>(databaseVariables(data), { do: "plan-rollback" });
  const steps = found.steps.flatMap(stepLines);
  if (found.kind === "none")
    return {
      json: found,
      text: `No bundle in ${found.dir} was taken before a migration. \`svc offsite fetch-db\` fetches one from the bucket.`,
      exitCode: 1,
    };
  return { json: found, text: [...headOf(found), "", ...steps, "", "Nothing was done."].join("\n") };
}

function headOf(found: Exclude<Rollback, { kind: "none" }>): string[] {
  const release = found.release ?? "the one that ran before; no bundle names it";
  if (found.kind === "reinstall")
    return [
      `No migration was applied since ${found.since}: nothing has to be restored.`,
      `  release  ${release}`,
    ];
  const { bundle, migrations, same_schema_since } = found;
  const of = migrations === undefined ? "the database does not answer" : `the database has ${migrations}`;
  return [
    ...(same_schema_since === undefined
      ? []
      : [
          `An update after ${same_schema_since} migrated nothing: to undo it, start its predecessor, without a restore.`,
        ]),
    "To roll back past the last migration:",
    `  bundle   ${bundle.name} (${bundle.migrations} migrations; ${of})`,
    `  release  ${release}`,
    `  lost     what was written since ${bundle.takenAt}`,
  ];
}
