// What LuckPerms has set for a player, what is changed in it, and whether the change is there afterwards.

import type { Input, Output } from "../api/operations.ts";

export type Rights = Pick<Output<"consoles.readLuckPerms">, "groups" | "permissions">;
export type Permission = Rights["permissions"][number];

type About = "name" | "player";
export type Change =
  | ({ kind: "group" } & Omit<Input<"consoles.changeGroup">, About>)
  | ({ kind: "permission" } & Omit<Input<"consoles.changePermission">, About>);

const group = /^\w[\w.-]{0,35}$/;
const node = /^[\w*][\w.*:-]{0,199}$/;
const world = /^\w[\w.:/-]{0,63}$/;

/** Fields of a change that its operation would refuse. */
export function badFieldsOf(change: Change): ("group" | "node" | "world")[] {
  if (change.kind === "group") return group.test(change.group) ? [] : ["group"];
  const isWorldFine = change.world === undefined || world.test(change.world);
  return [...(node.test(change.node) ? [] : ["node" as const]), ...(isWorldFine ? [] : ["world" as const])];
}

/** LuckPerms writes all of its names in lower case. */
const isSame = (one: string | undefined, other: string | undefined) =>
  one?.toLowerCase() === other?.toLowerCase();

/** Whether the rights are as the change wants them: LuckPerms reports a refusal in words only. */
export function isApplied({ groups, permissions }: Rights, change: Change): boolean {
  if (change.kind === "group")
    return groups.some((one) => isSame(one, change.group)) === (change.action === "add");
  const found = permissions.find((one) => isSame(one.node, change.node) && isSame(one.world, change.world));
  if (change.action === "unset") return found === undefined;
  return found?.value === (change.value ?? true) || isGroupNode(change, groups);
}

/** `group.<name>` without a world is a membership, and listed as one. */
function isGroupNode(change: Change & { kind: "permission" }, groups: readonly string[]): boolean {
  const { node: set, value = true, world: where } = change;
  return value && where === undefined && groups.some((one) => isSame(`group.${one}`, set));
}

/** What takes a removal back. */
export function removalOf(permission: Permission): { remove: Change; restore: Change } {
  const { node: about, value, world: where } = permission;
  const common = { kind: "permission", node: about, ...(where !== undefined && { world: where }) } as const;
  return { remove: { ...common, action: "unset" }, restore: { ...common, action: "set", value } };
}

/** Permissions whose name or world contains a text. */
export function searchPermissions(all: readonly Permission[], search: string): Permission[] {
  const wanted = search.trim().toLowerCase();
  return all.filter(({ node: about, world: where = "" }) =>
    `${about} ${where}`.toLowerCase().includes(wanted),
  );
}
