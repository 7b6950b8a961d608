// What an account does with its groups (docs/reference/groups.md#operations). Each change and its audit entry commit together.

import { randomBytes } from "node:crypto";
import { auditActor, type Context, type Handler } from "@svc/mesh";
import { type AnyContract, serverGroups as contracts, Fault } from "@svc/proto";
import { hasRight } from "../access/assert.ts";
import type { Audit } from "../database/audit.ts";
import { newStages } from "./decide.ts";
import { type Given, type Group, readGroup } from "./input.ts";
import { type StoredGroup, stagesOf, toGroup } from "./row.ts";
import type { CheckServers, GroupStore } from "./store.ts";

export type ManageDeps = {
  groups: GroupStore;
  now: () => number;
  onChange: () => void;
};

type Caller = Context<AnyContract>;

export const list =
  ({ groups }: ManageDeps): Handler<typeof contracts.list> =>
  async (context) => {
    const { user_id } = accountOf(context);
    const found = await groups.list(user_id);
    return { groups: found.map((group) => viewOf(group, user_id)), limit: contracts.mostGroups };
  };

export const read =
  (deps: ManageDeps): Handler<typeof contracts.read> =>
  (context, { id }) =>
    show(deps, context, id);

export const create =
  (deps: ManageDeps): Handler<typeof contracts.create> =>
  async (context, given) => {
    const id = `grp-${randomBytes(9).toString("hex")}`;
    const group = readInput(given);
    await deps.groups.insert(id, group, savingOf(deps, context, { action: "group.create", id, group }));
    return show(deps, context, id);
  };

export const change =
  (deps: ManageDeps): Handler<typeof contracts.change> =>
  async (context, { id, ...given }) => {
    const group = readInput(given);
    await deps.groups.change(id, group, savingOf(deps, context, { action: "group.change", id, group }));
    return show(deps, context, id);
  };

export const remove =
  ({ groups }: ManageDeps): Handler<typeof contracts.remove> =>
  async (context, { id }) => {
    const auditOf = ({ row }: StoredGroup) => auditOfGroup(context, "group.delete", row);
    await groups.remove(accountOf(context).user_id, id, auditOf);
    return null;
  };

export const start =
  (deps: ManageDeps): Handler<typeof contracts.start> =>
  (context, { id }) =>
    begin(deps, context, { id, direction: "start" });

export const stop =
  (deps: ManageDeps): Handler<typeof contracts.stop> =>
  (context, { id }) =>
    begin(deps, context, { id, direction: "stop" });

export const cancel =
  (deps: ManageDeps): Handler<typeof contracts.cancel> =>
  async (context, { id }) => {
    const auditOf = ({ row }: StoredGroup) => auditOfGroup(context, "group.cancel", row);
    await deps.groups.cancel(accountOf(context).user_id, id, auditOf);
    deps.onChange();
    return show(deps, context, id);
  };

async function begin(
  deps: ManageDeps,
  context: Caller,
  { id, direction }: { id: string; direction: contracts.Direction },
): Promise<contracts.ServerGroup> {
  const { user_id, username } = accountOf(context);
  const at = deps.now();
  await deps.groups.begin(user_id, id, ({ row, members }) => {
    if (members.length === 0) throw new Fault("group_empty");
    const names = stagesOf(members).map((stage) => stage.map(({ server_name }) => server_name));
    const { stage_seconds } = row;
    const run = {
      ...{ id: `run-${randomBytes(9).toString("hex")}`, direction, stages: newStages(direction, names) },
      ...{ stage_seconds, stage_until: new Date(at + stage_seconds * 1_000) },
      ...{ started_by: username, started_at: new Date(at), request_id: context.requestId },
    };
    return { run, audit: auditOfGroup(context, `group.${direction}`, row) };
  });
  deps.onChange();
  return show(deps, context, id);
}

async function show({ groups }: ManageDeps, context: Caller, id: string): Promise<contracts.ServerGroup> {
  const { user_id } = accountOf(context);
  return viewOf(await groups.get(user_id, id), user_id);
}

function viewOf(group: StoredGroup, accountId: string): contracts.ServerGroup {
  return toGroup(group, ({ server_name: name, row }) => hasRight(accountId, { name, row }, "power"));
}

function readInput(given: Given): Group {
  const read = readGroup(given);
  if (read.kind === "refused") throw new Fault("bad_group", { message: read.message });
  return read.group;
}

type About = { action: string; id: string; group: Group };

function savingOf({ now }: ManageDeps, context: Caller, { action, id, group }: About) {
  const accountId = accountOf(context).user_id;
  const check: CheckServers = (rows) => {
    // One answer for a server that is not there and one of somebody else.
    const other = group.stages.flat().find((name) => {
      const row = rows.get(name);
      return row === undefined || !hasRight(accountId, { name, row }, "power");
    });
    if (other === undefined) return;
    const message = `There is no server ${other} that you own, or that its owner lets you start and stop.`;
    throw new Fault("bad_group", { message });
  };
  const audit = auditOfGroup(context, action, { id, ...group });
  return { accountId, now: new Date(now()), check, audit };
}

function auditOfGroup(
  context: Caller,
  action: string,
  { id, name, stages }: { id: string; name: string; stages?: readonly (readonly string[])[] },
): Audit {
  const payload = { id, server_group: name, ...(stages && { stages }) };
  return { ...auditActor(context), action, payload };
}

function accountOf({ principal }: Caller): { user_id: string; username: string } {
  if (principal.kind !== "account") throw new Fault("forbidden");
  return principal;
}
