// A plan in words. Pure.

import type { Change, Plan } from "./change.ts";
import { fileRestartOf, shownGrant } from "./sharing.ts";
import { nameOf, shownTask, type Task } from "./task.ts";

/** One change in a line: what it is, of which server. */
export function lineOf(change: Change): string {
  const { server } = change;
  if (change.kind === "create-server") return `+ ${server}: create the server`;
  if (change.kind === "change-settings")
    return `~ ${server}: change ${change.fields.map(({ field }) => field).join(", ")}`;
  if (change.kind === "create-task") return `+ ${server}: add task ${nameOf(change.task)}`;
  if (change.kind === "change-task") return `~ ${server}: change task ${nameOf(change.before)}`;
  if (change.kind === "delete-task") return `- ${server}: delete task ${nameOf(change.before)}`;
  if (change.kind === "change-restart") return `~ ${server}: change the restart policy`;
  if (change.kind === "change-member") return `~ ${server}: change the access of ${change.user}`;
  if (change.kind === "remove-member") return `- ${server}: end the access of ${change.user}`;
  return `~ ${server}: allowlist`;
}

/** The whole plan, each change with what it was and what it will be. */
export function planText({ changes, kept }: Plan): string {
  const notes = kept.map((line) => `  ${line}; it stays without --prune`);
  if (changes.length === 0) return ["Nothing to change.", ...notes].join("\n");
  const count = (sign: string) => changes.filter((change) => lineOf(change).startsWith(sign)).length;
  const sum = `Plan: ${count("+")} to add, ${count("~")} to change, ${count("-")} to delete.`;
  return [...changes.flatMap((change) => [lineOf(change), ...details(change)]), ...notes, sum].join("\n");
}

function details(change: Change): string[] {
  if (change.kind === "change-settings")
    return [
      ...change.fields.map(({ field, from, to }) => `    ${field}: ${from} -> ${to}`),
      ...(change.restarts ? ["    the server runs: its players are disconnected, and it starts again"] : []),
      ...(change.converts ? ["    another version of the game may convert the world for good"] : []),
    ];
  if (change.kind === "create-server")
    return Object.entries(change.settings).map(([field, value]) => `    ${field}: ${value}`);
  if (change.kind === "create-task") return Object.entries(shownTask(change.task)).map(field);
  if (change.kind === "change-task") return between(change.before, change.task);
  if (change.kind === "change-restart") {
    const [from, to] = [fileRestartOf(change.before), fileRestartOf(change.policy)];
    const names = Object.keys(to).filter((name) => from[name] !== to[name]);
    return names.map((name) => `    ${name}: ${from[name]} -> ${to[name]}`);
  }
  if (change.kind === "change-member")
    return [`    from ${shownGrant(change.before)}`, `    to ${shownGrant(change.grant)}`];
  if (change.kind === "change-allowlist")
    return [`    ${change.player} canWake: ${!change.canWake} -> ${change.canWake}`];
  return [];
}

const field = ([name, value]: [string, string]) => `    ${name}: ${value === "" ? '""' : value}`;

function between(before: Task, after: Task): string[] {
  const [from, to] = [shownTask(before), shownTask(after)];
  const names = Object.keys(to).filter((name) => from[name] !== to[name]);
  return names.map((name) => `    ${name}: ${from[name] || '""'} -> ${to[name] || '""'}`);
}
