// Carries out one change.

import { accounts, members, ownership, restartPolicies, schedules, servers } from "@svc/proto";
import type { External } from "../account/external.ts";
import type { Change, Settings } from "./change.ts";
import { taskInputOf } from "./task.ts";

/** Throws the refusal of the operation. */
export async function act(external: External, change: Change): Promise<void> {
  const { server: name } = change;
  if (change.kind === "create-server") await create(external, name, change.settings);
  else if (change.kind === "change-settings") await set(external, name, change.settings);
  else if (change.kind === "create-task")
    await external.call(schedules.create, { name, ...taskInputOf(change.task) });
  else if (change.kind === "change-task")
    await external.call(schedules.update, { name, id: String(change.id), ...taskInputOf(change.task) });
  else if (change.kind === "delete-task")
    await external.call(schedules.remove, { name, id: String(change.id) });
  else if (change.kind === "change-restart")
    await external.call(restartPolicies.write, { name, ...change.policy });
  else if (change.kind === "change-member")
    await external.call(members.change, { name, id: change.id, ...change.grant });
  else if (change.kind === "remove-member") await external.call(members.remove, { name, id: change.id });
  else
    await external.call(ownership.changeAllowlist, { name, uuid: change.player, can_wake: change.canWake });
}

async function create(external: External, name: string, settings: Settings): Promise<void> {
  const { subdomain, node, cpu, owner, ...same } = settings;
  const me = owner === undefined ? undefined : await external.call(accounts.me, {});
  await external.call(servers.create, {
    ...same,
    ...{ name, subdomain: subdomain ?? name, claimable: false },
    ...(node !== undefined && { nodeName: node }),
    ...(cpu !== undefined && { resources: { cpu } }),
    ...(me && { owner: me.user_id }),
  });
}

async function set(external: External, name: string, settings: Settings): Promise<void> {
  const { displayName, autostartPolicy, idleStopSeconds, image, memory, cpu } = settings;
  const own = { name, displayName, autostartPolicy, idleStopSeconds };
  if (external.panelHost !== "admin") {
    await external.call(ownership.patchMine, own);
    return;
  }
  await external.call(servers.patch, {
    ...{ ...own, image, memory },
    ...(image !== undefined && { confirmImageChange: true }),
    ...(cpu !== undefined && { resources: { cpu } }),
  });
}
