// What has to change so that servers are as the files say (docs/reference/apply.md#plan). Pure.

import { isDeepStrictEqual } from "node:util";
import { parseQuantity } from "@svc/kube/quantity";
import { covers, type ownership, type schedules } from "@svc/proto";
import type { Caller, Change, Field, Options, Plan, Present, Settings, Value, Wanted } from "./change.ts";
import { planMembers, planRestart } from "./sharing.ts";
import { isZone, nameOf, settableOf, type Task, taskOf } from "./task.ts";

type Context = { caller: Caller; options: Options };

/** The plan for all servers, in the order of the files. */
export function planChanges(
  wanted: readonly Wanted[],
  present: ReadonlyMap<string, Present>,
  context: Context,
): Plan {
  const seen = new Set<string>();
  const plans = wanted.map((one) => {
    if (seen.has(one.name)) return refused(`${one.name}: is there twice; one document for each server`);
    seen.add(one.name);
    return planServer(one, present.get(one.name) ?? { kind: "absent" }, context);
  });
  return {
    changes: plans.flatMap(({ changes }) => changes),
    refusals: plans.flatMap(({ refusals }) => refusals),
    kept: plans.flatMap(({ kept }) => kept),
  };
}

function refused(...refusals: string[]): Plan {
  return { changes: [], refusals, kept: [] };
}

/** The plan for one server. */
function planServer(wanted: Wanted, present: Present, context: Context): Plan {
  const { name } = wanted;
  if (present.kind === "foreign") return refused(`${name}: is not yours`);
  if (present.kind === "absent") return planNew(wanted, context);
  if (present.info.retiring) return refused(`${name}: is being given up or deleted`);
  const parts = [
    planSettings(wanted, present, context),
    planTasks(wanted, present.tasks ?? { stored: [], limit: Number.POSITIVE_INFINITY }, context),
    planAllowlist(wanted, present.allowlist ?? []),
    planRestart(wanted, present.restart),
    planMembers(wanted, present.members ?? [], context.options.prune),
  ];
  return {
    changes: parts.flatMap(({ changes }) => changes),
    refusals: parts.flatMap(({ refusals }) => refusals),
    kept: parts.flatMap(({ kept }) => kept),
  };
}

function planNew(wanted: Wanted, { caller, options }: Context): Plan {
  const { name, settings } = wanted;
  if (!caller.isOperator)
    return refused(`${name}: does not exist, or is not for this token; only operators create servers`);
  const tasks = planTasks(wanted, { stored: [], limit: Number.POSITIVE_INFINITY }, { caller, options });
  const allowlist = planAllowlist(wanted, []);
  const shared = planMembers(wanted, [], options.prune);
  const restart = planRestart(wanted);
  return {
    changes: [{ server: name, kind: "create-server", settings }, ...tasks.changes, ...restart.changes],
    refusals: [...tasks.refusals, ...allowlist.refusals, ...shared.refusals],
    kept: [],
  };
}

type Managed = Extract<Present, { kind: "managed" }>;

/** What the operations show of a setting; undefined where nothing is set. */
export function settingOf(field: Field, { info, isOwned }: Managed): Value | undefined {
  const values: Record<Field, Value | undefined> = {
    displayName: info.displayName ?? "",
    autostartPolicy: info.autostartPolicy ?? "ownerOnly",
    idleStopSeconds: info.idleStopSeconds,
    image: info.image,
    memory: info.memory,
    cpu: info.cpu,
    storage: info.storageSize,
    subdomain: info.subdomain,
    node: info.nodeName,
    owner: isOwned ? "me" : undefined,
  };
  return values[field];
}

const immutable: Partial<Record<Field, string>> = {
  storage: "the storage of a server that exists cannot be changed",
  subdomain: "the subdomain of a server that exists cannot be changed",
  node: "worlds are moved with `svc server-migrate`",
  owner: "apply does not change who owns a server",
};
const ofOperators: ReadonlySet<string> = new Set<Field>(["image", "memory", "cpu"]);
/** A running server gets a new pod when one of these changes. */
const ofPod = ofOperators;
const quantities: ReadonlySet<string> = new Set<Field>(["memory", "cpu", "storage"]);

function isSame(field: Field, wanted: Value, present: Value | undefined): boolean {
  if (present === undefined || wanted === present) return wanted === present;
  if (field === "displayName") return String(wanted).trim() === present;
  // A stored image has its digest behind the tag.
  if (field === "image") return String(present).startsWith(`${wanted}@`);
  if (!quantities.has(field)) return false;
  return parseQuantity(String(wanted)) === parseQuantity(String(present));
}

function planSettings({ name, settings }: Wanted, present: Managed, { caller }: Context): Plan {
  const given = Object.entries(settings) as [Field, Value | undefined][];
  const different = given.filter(
    ([field, value]) => value !== undefined && !isSame(field, value, settingOf(field, present)),
  );
  const refusals = different.flatMap(([field, value]) => {
    const from = shown(settingOf(field, present));
    const why = immutable[field];
    if (why !== undefined) return [`${name}: settings.${field} is ${from}, not ${shown(value)}: ${why}`];
    if (caller.isOperator || !ofOperators.has(field)) return [];
    return [`${name}: settings.${field} is ${from}, not ${shown(value)}: only operators change it`];
  });
  if (refusals.length > 0) return refused(...refusals);
  if (different.length === 0) return { changes: [], refusals: [], kept: [] };
  const isUp = present.info.phase !== "Stopped" || present.info.desiredState === "Running";
  const change: Change = {
    server: name,
    kind: "change-settings",
    settings: Object.fromEntries(different) as Settings,
    fields: different.map(([field, value]) => ({
      field,
      from: shown(settingOf(field, present)),
      to: shown(value),
    })),
    restarts: isUp && different.some(([field]) => ofPod.has(field)),
    converts: different.some(([field]) => field === "image"),
  };
  return { changes: [change], refusals: [], kept: [] };
}

function shown(value: Value | undefined): string {
  if (value === undefined) return "not set";
  return value === "" ? '""' : String(value);
}

type Tasks = { stored: readonly schedules.Schedule[]; limit: number };
type Pair = { task: Task; stored: schedules.Schedule };

// First what is the same in every respect, then what has the same label; so an exported file changes nothing even where
// several tasks have one label or none.
function planTasks({ name, schedules: files }: Wanted, { stored, limit }: Tasks, { options }: Context): Plan {
  if (!files) return { changes: [], refusals: [], kept: [] };
  const left = [...stored];
  const open = files.map(taskOf).filter((task) => {
    const at = left.findIndex((one) => isDeepStrictEqual(settableOf(one), task));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  const refusals = [...ambiguous(name, open, left), ...unknownZones(name, open)];
  const pairs: Pair[] = [];
  const fresh = open.filter((task) => {
    const at = task.label === "" ? -1 : left.findIndex(({ label }) => label === task.label);
    const [found] = at === -1 ? [] : left.splice(at, 1);
    if (found) pairs.push({ task, stored: found });
    return !found;
  });
  const gone = options.prune ? left : [];
  const most = stored.length - gone.length + fresh.length;
  if (fresh.length > 0 && most > limit)
    refusals.push(`${name}: would have ${most} tasks; a server has at most ${limit}`);
  if (refusals.length > 0) return refused(...refusals);
  const server = name;
  return {
    changes: [
      ...gone.map((one): Change => ({ server, kind: "delete-task", id: one.id, before: settableOf(one) })),
      ...pairs.map(
        ({ task, stored: { id }, stored: before }): Change => ({
          ...{ server, kind: "change-task", id, task },
          before: settableOf(before),
        }),
      ),
      ...fresh.map((task): Change => ({ server, kind: "create-task", task })),
    ],
    refusals: [],
    kept: options.prune
      ? []
      : left.map((one) => `${name}: task ${nameOf(settableOf(one))} is not in the file`),
  };
}

function ambiguous(name: string, open: readonly Task[], left: readonly schedules.Schedule[]): string[] {
  const labels = new Set(open.map(({ label }) => label).filter((label) => label !== ""));
  const count = (all: readonly { label: string }[], label: string) =>
    all.filter((one) => one.label === label).length;
  return [...labels]
    .filter((label) => count(left, label) > 0 && count(open, label) + count(left, label) > 2)
    .map(
      (label) =>
        `${name}: several tasks are called ${JSON.stringify(label)}; which one is to change? Give them labels of their own`,
    );
}

function unknownZones(name: string, open: readonly Task[]): string[] {
  return open
    .filter(({ timezone }) => !isZone(timezone))
    .map((task) => `${name}: task ${nameOf(task)}: ${task.timezone} is no time zone such as Europe/Berlin`);
}

function planAllowlist({ name, allowlist = [] }: Wanted, present: readonly ownership.AllowlistEntry[]): Plan {
  const known = new Map(present.map((entry) => [entry.mc_uuid, entry.can_wake]));
  const twice = allowlist.filter(
    ({ player }, at) => allowlist.findIndex((one) => one.player === player) !== at,
  );
  const refusals = [
    ...twice.map(({ player }) => `${name}: ${player} is on the allowlist twice`),
    ...allowlist
      .filter(({ player }) => !known.has(player))
      .map(
        ({ player }) => `${name}: ${player} has never joined; only players who did can be on the allowlist`,
      ),
  ];
  if (refusals.length > 0) return refused(...refusals);
  const changes = allowlist
    .filter(({ player, canWake }) => known.get(player) !== canWake)
    .map(({ player, canWake }): Change => ({ server: name, kind: "change-allowlist", player, canWake }));
  return { changes, refusals: [], kept: [] };
}

/**
 * Whether somebody should be asked first: what is deleted, players who are thrown out, worlds that another version converts,
 * and access that becomes wider, as it does when a limit or an end is left out of the file.
 */
export function isDelicate(change: Change): boolean {
  if (change.kind === "delete-task" || change.kind === "remove-member") return true;
  if (change.kind === "change-member") return !covers(change.before, change.grant);
  return change.kind === "change-settings" && (change.restarts || change.converts);
}
