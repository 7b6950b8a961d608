// Which rights a token must have, before anything is changed (docs/reference/apply.md#rights). Pure.

import {
  type AnyContract,
  members,
  ownership,
  type Right,
  restartPolicies,
  schedules,
  servers,
  type TokenGrant,
} from "@svc/proto";
import type { Change, Wanted } from "./change.ts";

const ofChange: Record<Change["kind"], AnyContract> = {
  "create-server": servers.create,
  "change-settings": ownership.patchMine,
  "create-task": schedules.create,
  "change-task": schedules.update,
  "delete-task": schedules.remove,
  "change-allowlist": ownership.changeAllowlist,
  "change-restart": restartPolicies.write,
  "change-member": members.change,
  "remove-member": members.remove,
};

const rightsOf = ({ http }: AnyContract) => http?.rights ?? [];

/** What a token lacks to read the state of these servers, in words. */
export function lacksToRead(grant: TokenGrant, wanted: readonly Wanted[]): string[] {
  return wanted.flatMap(({ name, schedules: tasks, allowlist, members: shared }) => {
    const isOut = grant.servers !== undefined && !grant.servers.includes(name);
    const contracts = [
      servers.viewStatus,
      ...(tasks ? [schedules.list] : []),
      ...(allowlist ? [ownership.listAllowlist] : []),
    ];
    return [
      ...(isOut ? [`${name}: the token is not for this server`] : []),
      ...(shared ? [`${name}: members need a session; API tokens do not read or change them`] : []),
      ...missing(grant, contracts).map((right) => `${name}: the token does not have the right ${right}`),
    ];
  });
}

/** What a token lacks to carry out these changes, in words. */
export function lacksToChange(grant: TokenGrant, changes: readonly Change[]): string[] {
  const lines = changes.flatMap((change) =>
    missing(grant, [ofChange[change.kind]]).map(
      (right) => `${change.server}: the token does not have the right ${right}`,
    ),
  );
  return [...new Set(lines)];
}

function missing({ rights }: TokenGrant, contracts: readonly AnyContract[]): Right[] {
  return [...new Set(contracts.flatMap(rightsOf))].filter((right) => !rights.includes(right));
}
