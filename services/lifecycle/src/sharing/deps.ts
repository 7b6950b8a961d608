import { randomBytes } from "node:crypto";
import type { Context } from "@svc/mesh";
import {
  type AccountPrincipal,
  type AnyContract,
  accounts,
  Fault,
  isLive,
  isUserName,
  type OutputOf,
} from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import type { StoredMember } from "../database/member.ts";
import type { ServerRow } from "../database/server-row.ts";
import type { ServerDeps } from "../server/deps.ts";
import type { AttemptBudget } from "./attempt-budget.ts";
import type { Actor } from "./policy.ts";
import type { LockedSharing, SharingStore } from "./store.ts";

export type SharingDeps = Pick<ServerDeps, "mesh" | "store" | "settings"> & {
  sharing: SharingStore;
  attempts: AttemptBudget;
};

type Caller = Pick<Context<AnyContract>, "principal">;
type Wanted = { name: string; to: Pick<AnyContract, "http"> };
export type Accounts = OutputOf<typeof accounts.describeAccounts>["accounts"];

/** The account that asks; sharing is between people. */
export function accountOf({ principal }: Caller): AccountPrincipal {
  if (principal.kind === "account") return principal;
  throw new Fault("forbidden");
}

/** Who acts, if the contract lets them; throws `bad_name`, `forbidden`. */
export function actorOf(caller: Caller, { name, to }: Wanted, row: ServerRow): Actor {
  const as = assertAccess(caller, { name, row, to });
  if (as !== "member") return { as };
  const member = memberOf(row, accountOf(caller).user_id);
  if (!member) throw new Fault("forbidden");
  return { as, member };
}

export function memberOf(row: ServerRow, userId: string): StoredMember | undefined {
  return row.members?.find(({ user_id }) => user_id === userId);
}

/** Members whose access has not ended. */
export function liveMembers(row: ServerRow | undefined): StoredMember[] {
  return (row?.members ?? []).filter((member) => isLive(member, Date.now()));
}

/** The row of a server that can be shared. Throws `bad_name`, `not_found`. */
export async function findShared({ store }: Pick<SharingDeps, "store">, name: string): Promise<ServerRow> {
  assertName(name);
  const row = await store.find(name);
  if (!row) throw noServer(name);
  return row;
}

/** Changes what is shared of a server under its lock, after `actorOf` has let the caller. */
export async function withActor<R>(
  { sharing }: Pick<SharingDeps, "sharing">,
  { caller, ...wanted }: Wanted & { caller: Caller },
  work: (locked: LockedSharing, actor: Actor) => Promise<R>,
): Promise<R> {
  const { name } = wanted;
  assertName(name);
  const done = await sharing.withServer(name, async (locked) => ({
    value: await work(locked, actorOf(caller, wanted, locked.row)),
  }));
  if (!done) throw noServer(name);
  return done.value;
}

function assertName(name: string): void {
  if (!isUserName(name)) throw new Fault("bad_name");
}

function noServer(name: string): Fault {
  return new Fault("not_found", { message: `There is no server ${name}.` });
}

/** Accounts that can be used, by id. Throws `unavailable` while identity cannot be asked. */
export async function describe(
  { mesh }: Pick<SharingDeps, "mesh">,
  context: Parameters<SharingDeps["mesh"]["call"]>[2],
  ids: readonly string[],
): Promise<Accounts> {
  const user_ids = [...new Set(ids)];
  if (user_ids.length === 0) return {};
  return (await mesh.call(accounts.describeAccounts, { user_ids }, context)).accounts;
}

export function newId(kind: "mem" | "inv"): string {
  return `${kind}-${randomBytes(12).toString("base64url")}`;
}
