// Whom a server is shared with (docs/reference/shared-access.md#operations).

import {
  type AccessLimits,
  type AccessPreset,
  accessPresets,
  type Grant,
  MemberRight,
  memberRights,
  members,
} from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { addressOf } from "../account/panel-client.ts";
import { CommandError, type Outcome, table, UsageError } from "../output.ts";
import { endOf } from "../time.ts";

type At = { data: string };
type GrantOptions = {
  preset?: string;
  right?: string[];
  read?: string[];
  write?: string[];
  allow?: string[];
  deny?: string[];
  until?: string;
};
export type InviteOptions = At & GrantOptions & { email?: string; player?: string; days: number };
export type ChangeOptions = At & GrantOptions;
type Which = At & { id?: boolean };

const presets: Readonly<Record<string, AccessPreset>> = accessPresets;

/** Rights and limits of the options: those of a preset, and what is given beside it instead. */
function grantOf(options: GrantOptions): Grant {
  const preset = options.preset === undefined ? undefined : presetNamed(options.preset);
  const rights = [...(preset?.rights ?? []), ...(options.right ?? []).map(toRight)];
  if (rights.length === 0)
    throw new UsageError(
      `give --preset ${Object.keys(presets).join("|")} or --right, such as --right see,power`,
    );
  const given: AccessLimits = {
    ...(options.read && { read_paths: options.read }),
    ...(options.write && { write_paths: options.write }),
    ...(options.allow && { allow_commands: options.allow }),
    ...(options.deny && { deny_commands: options.deny }),
  };
  const limits: AccessLimits = { ...preset?.limits, ...given };
  return {
    rights,
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(options.until !== undefined && { ends_at: endOf(options.until, "--until").toISOString() }),
  };
}

function presetNamed(name: string): AccessPreset {
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  if (preset) return preset;
  throw new UsageError(`${name} is no preset; there are ${Object.keys(presets).join(", ")}`);
}

function toRight(text: string): MemberRight {
  const { data } = MemberRight.safeParse(text);
  if (data === undefined) throw new UsageError(`${text} is no right; there are ${memberRights.join(", ")}`);
  return data;
}

export async function listAccess(server: string, { data }: At): Promise<Outcome> {
  const answer = await connectExternal(data).call(members.list, { name: server });
  const rows = answer.members.map((one) => [
    ...[one.id, one.is_me ? `${one.username ?? "?"} (you)` : (one.username ?? "?"), "member"],
    ...[describe(one), one.ends_at ?? "never"],
  ]);
  const open = answer.invitations.map((one) => [
    ...[one.id, one.to ?? "whoever has the link", "invited"],
    ...[describe(one), `invitation: ${one.expires_at}`],
  ]);
  const all = [...rows, ...open];
  return {
    json: answer,
    text:
      all.length === 0
        ? `${server} is shared with nobody.`
        : table([["ID", "WHO", "STATE", "RIGHTS", "ENDS"], ...all]),
  };
}

function describe({ rights, limits = {} }: Grant): string {
  const named = {
    read: limits.read_paths,
    write: limits.write_paths,
    allow: limits.allow_commands,
    deny: limits.deny_commands,
  };
  const parts = Object.entries(named).flatMap(([name, list]) =>
    list ? [`${name}: ${list.join(", ")}`] : [],
  );
  return [rights.join(","), ...parts].join("; ");
}

/** What somebody who gives this should know (docs/reference/shared-access.md#files). */
function notesOn({ rights, limits, ends_at }: Grant): string[] {
  const notes = ends_at === undefined ? [] : [`The access ends at ${ends_at}.`];
  if (limits?.read_paths && rights.includes("backups.download"))
    notes.push("With --read, whole backups and the whole world cannot be downloaded.");
  if (limits?.write_paths && rights.includes("backups.restore"))
    notes.push(
      "With --write, backups.restore puts back files within these paths alone, never the whole world.",
    );
  return notes;
}

export async function invite(
  server: string,
  { email, player, days, ...options }: InviteOptions,
): Promise<Outcome> {
  if (email !== undefined && player !== undefined) throw new UsageError("give --email or --player, not both");
  const answer = await connectExternal(options.data).call(members.invite, {
    name: server,
    ...grantOf(options),
    ...(email !== undefined && { email }),
    ...(player !== undefined && { player }),
    expires_in_days: days,
  });
  const { invitation, secret, mailed } = answer;
  const notes = [`The invitation is open until ${invitation.expires_at}.`, ...notesOn(invitation)];
  if (secret !== undefined) {
    const url = addressOf(options.data, "panel", `/invitations#${secret}`);
    const shown = [
      `${url}\n`,
      "This is the only time that the link is shown; whoever has it can accept it, once.",
      `Without a browser: npm run svc -- access accept ${secret}`,
    ];
    return { json: { ...answer, url }, text: [...shown, ...notes].join("\n") };
  }
  const how = mailed === false ? "No mail could be sent: tell them. " : "";
  const text = [`Invited: ${invitation.to}. ${how}They find it in the panel.`, ...notes].join("\n");
  return { json: answer, text };
}

/** By id, or by the user name of one member. */
async function findMember(server: string, wanted: string, { data }: At): Promise<members.Member> {
  const { members: all } = await connectExternal(data).call(members.list, { name: server });
  const found = all.find(({ id, username }) => id === wanted || username === wanted);
  if (found) return found;
  throw new CommandError(
    `${server} is not shared with ${wanted}; list members with: \`svc access list ${server}\``,
  );
}

export async function change(server: string, wanted: string, options: ChangeOptions): Promise<Outcome> {
  const { id, username = wanted } = await findMember(server, wanted, options);
  const changed = await connectExternal(options.data).call(members.change, {
    name: server,
    id,
    ...grantOf(options),
  });
  const text = [`${username} has now: ${describe(changed)}.`, ...notesOn(changed)].join("\n");
  return { json: changed, text };
}

/** A member, or an invitation that is open. */
export async function remove(server: string, wanted: string, options: At): Promise<Outcome> {
  const external = connectExternal(options.data);
  if (wanted.startsWith("inv-")) {
    await external.call(members.revoke, { name: server, id: wanted });
    return {
      json: { id: wanted, revoked: true },
      text: "Taken back: nobody can accept this invitation any more.",
    };
  }
  const { id, username = wanted } = await findMember(server, wanted, options);
  await external.call(members.remove, { name: server, id });
  return { json: { id, removed: true }, text: `${username} has no access to ${server} any more.` };
}

export async function leave(server: string, { data }: At): Promise<Outcome> {
  await connectExternal(data).call(members.leave, { name: server });
  return { json: { server, left: true }, text: `You have no access to ${server} any more.` };
}

export async function showMine(server: string, { data }: At): Promise<Outcome> {
  const mine = await connectExternal(data).call(members.readMine, { name: server });
  const ends = mine.ends_at === undefined ? "" : ` It ends at ${mine.ends_at}.`;
  return { json: mine, text: `You are ${mine.as} of ${server}: ${describe(mine)}.${ends}` };
}

export async function listInvitations({ data }: At): Promise<Outcome> {
  const answer = await connectExternal(data).call(members.listOffers, {});
  const rows = answer.invitations.map((one) => [
    ...[one.id, one.server, one.invited_by, describe(one), one.ends_at ?? "never", one.expires_at],
  ]);
  return {
    json: answer,
    text:
      rows.length === 0
        ? "Nobody has invited you."
        : table([["ID", "SERVER", "BY", "RIGHTS", "ENDS", "OPEN UNTIL"], ...rows]),
  };
}

/** The id of an invitation to the caller, or the secret of a link. */
function whichOf(text: string): { id: string } | { secret: string } {
  return text.startsWith("inv-") ? { id: text } : { secret: text };
}

export async function accept(wanted: string, { data }: Which): Promise<Outcome> {
  const access = await connectExternal(data).call(members.accept, whichOf(wanted));
  return { json: access, text: `${access.server} is shared with you: ${describe(access)}.` };
}

export async function decline(wanted: string, { data }: Which): Promise<Outcome> {
  await connectExternal(data).call(members.decline, whichOf(wanted));
  return { json: { declined: true }, text: "Declined: nobody can accept this invitation any more." };
}
