// What a saved filter finds in the own list (docs/reference/server-filters.md#use). Pure.

import type { OutputOf, ownership, serverFilters } from "@svc/proto";
import { CommandError } from "../output.ts";

export type MyServer = OutputOf<typeof ownership.listMine>["items"][number];
type Filter = serverFilters.ServerFilter;

/** The filter of a name; one by its id where no name fits. */
export function pickFilter(filters: readonly Filter[], name: string): Filter {
  const found = filters.find((one) => one.name === name) ?? filters.find(({ id }) => id === name);
  if (found) return found;
  throw new CommandError(`you have no filter ${name}; list them with: \`svc server filter\``);
}

/** `night, awake, tag event, by players`. */
export function filterText({ search, show, tag, node, sort }: Filter): string {
  const parts = [
    ...(search === "" ? [] : [`"${search}"`]),
    ...(show === undefined ? [] : [show]),
    ...(tag === "" ? [] : [`tag ${tag}`]),
    ...(node === "" ? [] : [`node ${node}`]),
    ...(sort === "name" ? [] : [`by ${sort}`]),
  ];
  return parts.join(", ");
}

/** Those that it finds, in its order. Throws for what only the list of operators knows. */
export function findOwn(rows: readonly MyServer[], filter: Filter): MyServer[] {
  const { name, show, node, sort, search, tag } = filter;
  if (show === "unowned" || node !== "" || sort === "owner" || sort === "node")
    throw new CommandError(
      `the filter ${name} is one of the list of operators; sign in with: \`svc account login --browser --host operator\``,
    );
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => {
    const tags = (row.tags ?? []).map((one) => one.name);
    const text = [row.name, row.subdomain, row.displayName ?? "", ...tags].join("\n").toLowerCase();
    const isFound = words.every((word) => text.includes(word)) && (tag === "" || tags.includes(tag));
    return isFound && (show === undefined || isShown(row, show));
  });
  return found.sort((a, b) => comparers[sort](a, b) || byName.compare(a.name, b.name));
}

const byName = new Intl.Collator("en", { numeric: true });
const awake: readonly unknown[] = ["Starting", "Running", "Stopping"];
const phases: readonly unknown[] = ["Failed", "Starting", "Running", "Stopping", "Unknown", "Stopped"];

function isShown(
  { phase, startGaveUp, retiring }: MyServer,
  show: "awake" | "asleep" | "failed" | "attention",
) {
  const isFailed = phase === "Failed" || startGaveUp === true;
  const answers = {
    awake: awake.includes(phase),
    asleep: phase === "Stopped",
    failed: isFailed,
    attention: isFailed || retiring !== undefined,
  };
  return answers[show];
}

const comparers = {
  name: () => 0,
  phase: (a: MyServer, b: MyServer) => phases.indexOf(a.phase) - phases.indexOf(b.phase),
  players: (a: MyServer, b: MyServer) => b.playersOnline - a.playersOnline,
};
