// What the address says about the list of players, and how long somebody played. Pure.

import type { Input, Output } from "../api/operations.ts";

export type Known = Output<"knownPlayers.list">["players"][number];

export const pageSize = 50;
export const sorts = ["last_seen", "played", "name"] as const;
export type View = {
  search: string;
  /** Empty: all servers. */
  server: string;
  sort: (typeof sorts)[number];
  /** 1 is the first. */
  page: number;
};

const textOf = (value: unknown) =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

export function viewOf({ q, server, sort, page }: Readonly<Record<string, unknown>>): View {
  const number = Number(textOf(page));
  return {
    search: textOf(q),
    server: textOf(server),
    sort: sorts.find((name) => name === sort) ?? "last_seen",
    page: Number.isInteger(number) && number >= 1 && number <= 20_000 ? number : 1,
  };
}

/** What the address says for a view. */
export function addressOf({ search, server, sort, page }: View): Record<string, string | number> {
  return {
    ...(search !== "" && { q: search }),
    ...(server !== "" && { server }),
    ...(sort !== "last_seen" && { sort }),
    ...(page > 1 && { page }),
  };
}

export function requestOf({ search, server, sort, page }: View): Input<"knownPlayers.list"> {
  const text = search.trim().slice(0, 16);
  return {
    ...{ sort, limit: pageSize, offset: (page - 1) * pageSize },
    ...(text !== "" && { text }),
    ...(server !== "" && { server }),
  };
}

/** Whole hours, and the minutes that are left. */
export function clockOf(seconds: number): [hours: number, minutes: number] {
  return [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
}

/** Whether an id of the address can be one of a player; others are not asked for. */
export function isPlayerId(id: string): boolean {
  return /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(id);
}
