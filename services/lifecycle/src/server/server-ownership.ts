// The entry of a server in the view `server-owners` (docs/reference/mesh.md#views). Pure.

import { type ServerOwnership, systemNames } from "@svc/proto";
import { type Server, systemRoleOf } from "../cluster/resource.ts";
import type { StoredMember } from "../database/member.ts";
import { isClaimable, type ServerRow } from "../database/server-row.ts";

/** An owner's display name and linked players, the first linked first. */
export type OwnerFacts = { name: string; players: readonly string[] };

export type OwnerNames = {
  /** By account; an account that is missing is an unknown owner. */
  owners: Readonly<Record<string, OwnerFacts>>;
  /** Names by UUID. */
  playerNames: Readonly<Record<string, string>>;
};

export const noOwnerNames: OwnerNames = { owners: {}, playerNames: {} };

type About = {
  name: string;
  server: Server | undefined;
  /** False when the object is known to be gone; then it cannot be claimed. */
  exists: boolean;
  row: ServerRow | undefined;
  /** As the database has it; that of the object counts otherwise. */
  subdomain: string | undefined;
};

/** Provisioned by the platform: it has no owner. */
export function isSystem(name: string, server: Server | undefined): boolean {
  return systemNames.has(name) || (server !== undefined && systemRoleOf(server) !== "");
}

/** A pending retirement prevents claims, as a deletion does (docs/reference/claims.md#retirement). */
export function toOwnership(
  { name, server, exists, row, subdomain }: About,
  names: OwnerNames,
): ServerOwnership {
  const ownerId = row?.ownerId;
  const owner = ownerId === undefined ? undefined : names.owners[ownerId];
  const ownerPlayer = ownerId === undefined ? undefined : playerOf(names, ownerId);
  const system = isSystem(name, server);
  return {
    name,
    subdomain: subdomain ?? server?.spec.subdomain ?? name,
    claimable: exists && !system && isClaimable(row),
    ...(ownerId !== undefined && { ownerId }),
    ...(row?.members?.length && { members: row.members.map(viewOf) }),
    ...(owner !== undefined && { owner: owner.name }),
    ...(ownerPlayer !== undefined && { ownerPlayer }),
    ...(system && { system }),
    ...(row?.retiring && { retiring: row.retiring }),
  };
}

function viewOf({ user_id, rights, ends_at }: StoredMember) {
  return { user_id, rights, ...(ends_at !== undefined && { ends_at }) };
}

function playerOf({ owners, playerNames }: OwnerNames, ownerId: string): string | undefined {
  const [player] = (owners[ownerId]?.players ?? []).flatMap((uuid) => playerNames[uuid] ?? []);
  return player;
}

/** What entries show of an owner, as one text to compare. */
export function displayOf(names: OwnerNames, ownerId: string): string {
  return JSON.stringify([names.owners[ownerId]?.name, playerOf(names, ownerId)]);
}
