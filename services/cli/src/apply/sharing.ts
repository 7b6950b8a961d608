// The restart policy of a server and who it is shared with, against a file (docs/reference/apply.md#plan). Pure.

import { isDeepStrictEqual } from "node:util";
import { type Grant, GrantedRights, type members, restartPolicies } from "@svc/proto";
import type { Change, Plan, Wanted } from "./change.ts";

type Policy = restartPolicies.RestartPolicy;
type Part = Pick<Plan, "changes" | "refusals" | "kept">;
const nothing: Part = { changes: [], refusals: [], kept: [] };

/** Fields that the file leaves out stay. */
export function planRestart(
  { name, restart }: Wanted,
  present: Policy = restartPolicies.defaultRestartPolicy,
): Part {
  if (!restart) return nothing;
  const policy: Policy = {
    after_crash: restart.afterCrash ?? present.after_crash,
    when_hung: restart.whenHung ?? present.when_hung,
    silent_minutes: restart.silentMinutes ?? present.silent_minutes,
  };
  if (isDeepStrictEqual(policy, present)) return nothing;
  return { ...nothing, changes: [{ server: name, kind: "change-restart", policy, before: present }] };
}

/** As it is stored: rights in their order, nothing that is undefined, an end in UTC. */
function normal({ rights, limits, ends_at }: Grant): Grant {
  const given = Object.entries(limits ?? {}).filter(([, list]) => list !== undefined);
  return {
    rights: GrantedRights.parse(rights),
    ...(given.length > 0 && { limits: Object.fromEntries(given) }),
    ...(ends_at !== undefined && { ends_at: new Date(ends_at).toISOString() }),
  };
}

/** Who is not there yet has to be invited and to accept; a file cannot do that for them. */
export function planMembers(
  { name, members: wanted }: Wanted,
  present: readonly members.Member[],
  prune: boolean,
): Part {
  if (!wanted) return nothing;
  const byName = new Map(present.map((member) => [member.username, member]));
  const changes: Change[] = [];
  const refusals: string[] = [];
  for (const [at, { user, until: ends_at, rights, ...limits }] of wanted.entries()) {
    const member = byName.get(user);
    if (wanted.findIndex((one) => one.user === user) !== at)
      refusals.push(`${name}: ${user} is a member twice`);
    else if (!member)
      refusals.push(`${name}: is not shared with ${user}; invite them with \`svc access invite ${name}\``);
    else {
      const grant = normal({
        rights,
        limits: {
          ...{ read_paths: limits.readPaths, write_paths: limits.writePaths },
          ...{ allow_commands: limits.allowCommands, deny_commands: limits.denyCommands },
        },
        ...(ends_at !== undefined && { ends_at }),
      });
      const before = normal(member);
      if (isDeepStrictEqual(grant, before)) continue;
      if (member.may_change)
        changes.push({ server: name, kind: "change-member", id: member.id, user, grant, before });
      else refusals.push(`${name}: you may not change the access of ${user}`);
    }
  }
  const others = present.filter(({ username }) => !wanted.some(({ user }) => user === username));
  const gone = prune ? others.filter(({ may_change }) => may_change) : [];
  for (const member of gone)
    changes.unshift({ server: name, kind: "remove-member", id: member.id, user: nameOf(member) });
  const kept = prune ? [] : others.map((one) => `${name}: ${nameOf(one)} has access and is not in the file`);
  return refusals.length > 0 ? { ...nothing, refusals } : { changes, refusals, kept };
}

/** The account may be disabled; then nobody sees its name. */
function nameOf({ username, id }: members.Member): string {
  return username ?? id;
}

/** As a file has it. */
export function fileMembersOf(present: readonly members.Member[]): Record<string, unknown>[] {
  return present.flatMap(({ username: user, rights, limits = {}, ends_at }) => {
    if (user === undefined) return [];
    const named = {
      ...{ readPaths: limits.read_paths, writePaths: limits.write_paths },
      ...{ allowCommands: limits.allow_commands, denyCommands: limits.deny_commands, until: ends_at },
    };
    const given = Object.entries(named).filter(([, value]) => value !== undefined);
    return [{ user, rights, ...Object.fromEntries(given) }];
  });
}

export function fileRestartOf({ after_crash, when_hung, silent_minutes }: Policy): Record<string, unknown> {
  return { afterCrash: after_crash, whenHung: when_hung, silentMinutes: silent_minutes };
}

/** What an access is, in one line. */
export function shownGrant({ rights, limits = {}, ends_at }: Grant): string {
  const lists = Object.entries(limits).map(([limit, list]) => `${limit}: ${(list ?? []).join(", ")}`);
  return [rights.join(","), ...lists, ...(ends_at === undefined ? [] : [`until ${ends_at}`])].join("; ");
}
