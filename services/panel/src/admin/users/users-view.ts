import type { Input, Output } from "../../api/operations.ts";
import type { StatusLook } from "../../ui/status.tsx";
import { type Query, textOf } from "../address.ts";

export type User = Output<"users.list">["users"][number];
export type UserDetail = Output<"users.read">;

export const pageSize = 50;
export const roleFilters = ["all", "admin", "user"] as const;
export const userSorts = ["created_at", "username"] as const;
export const stateFilters = ["all", "active", "disabled"] as const;
export type UsersView = {
  search: string;
  role: (typeof roleFilters)[number];
  state: (typeof stateFilters)[number];
  sort: (typeof userSorts)[number];
  /** 1 is the first. */
  page: number;
};

/** Reads what the address says about the list of users. */
export function usersViewOf({ q, role, state, sort, page }: Query): UsersView {
  const number = Number(textOf(page));
  return {
    search: textOf(q),
    role: roleFilters.find((name) => name === role) ?? "all",
    state: stateFilters.find((name) => name === state) ?? "all",
    sort: userSorts.find((name) => name === sort) ?? "created_at",
    page: Number.isInteger(number) && number >= 1 && number <= 1_000_000 ? number : 1,
  };
}

/** What the address says for a view. */
export function addressOf({ search, role, state, sort, page }: UsersView): Record<string, string | number> {
  return {
    ...(search !== "" && { q: search }),
    ...(role !== "all" && { role }),
    ...(state !== "all" && { state }),
    ...(sort !== "created_at" && { sort }),
    ...(page > 1 && { page }),
  };
}

/** The request for a page of users. */
export function requestOf({ search, role, state, sort, page }: UsersView): Input<"users.list"> {
  return {
    limit: pageSize,
    offset: (page - 1) * pageSize,
    ...(sort !== "created_at" && { sort }),
    ...(search.trim() !== "" && { query: search.trim().slice(0, 254) }),
    ...(role !== "all" && { role }),
    ...(state !== "all" && { disabled: state === "disabled" ? "true" : "false" }),
  };
}

/** Whether an id of the address can be one of a user; others are not asked for. */
export function isUserId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
}

type UserState = "active" | "disabled" | "deleted";

export function stateOf(user: Pick<UserDetail, "disabled" | "deleted_at">): UserState {
  if (user.deleted_at !== undefined) return "deleted";
  return user.disabled ? "disabled" : "active";
}

export const lookOfState: Record<UserState, StatusLook> = {
  active: "running",
  disabled: "failed",
  deleted: "unknown",
};

/** What the caller may do to a user (docs/reference/accounts.md#users). */
export type UserActs = { edit: boolean; role: boolean; disable: boolean; remove: boolean };

export function decideActs(user: Pick<UserDetail, "id" | "role" | "deleted_at">, callerId: string): UserActs {
  const edit = user.deleted_at === undefined;
  const isFree = edit && user.role !== "owner" && user.id !== callerId;
  return { edit, role: isFree, disable: isFree, remove: isFree };
}
