// Changes to a server: settings, owner, deletion, and who may wake it.

import { type InputOf, ownership, servers } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { type Outcome, planned, table, UsageError } from "../output.ts";

type Data = { data: string };
type SetOptions = Data & {
  policy?: "ownerOnly" | "public" | "allowlist";
  idle?: number;
  memory?: string;
  image?: string;
  displayName?: string;
  confirmImage?: boolean;
};

export async function setServer(name: string, options: SetOptions): Promise<Outcome> {
  const change: Omit<InputOf<typeof servers.patch>, "name"> = {
    autostartPolicy: options.policy,
    idleStopSeconds: options.idle,
    memory: options.memory,
    image: options.image,
    displayName: options.displayName,
    confirmImageChange: options.confirmImage,
  };
  if (Object.values(change).every((value) => value === undefined))
    throw new UsageError("no settings given; list them with `svc server set --help`");
  const answer = await connectExternal(options.data).call(servers.patch, { name, ...change });
  return { json: answer, text: `${name}: changed ${answer.patched.join(", ")}.` };
}

export async function claimServer(name: string, { data }: Data): Promise<Outcome> {
  const answer = await connectExternal(data).call(ownership.claim, { name });
  return { json: answer, text: `You own ${name} now.` };
}

type DeleteOptions = Data & { yes?: boolean; keepServer?: boolean; cancel?: boolean };

/** Requests the deletion of a server; the daily batch carries it out, and until then it can be cancelled. */
export async function deleteServer(name: string, options: DeleteOptions): Promise<Outcome> {
  const external = connectExternal(options.data);
  if (options.cancel) {
    await external.call(ownership.cancelRetirement, { name });
    return { json: { name, retiring: null }, text: `Cancelled; ${name} stays, stopped until it is woken.` };
  }
  // Fails before a plan is printed when the server does not exist.
  const { phase } = await external.call(servers.viewStatus, { name });
  const goes = options.keepServer
    ? "its owner and world are removed"
    : "the server and its world are removed";
  const plan = `stop ${name} (${phase} now); ${goes} with the next daily batch, and backups stay until they expire`;
  if (!options.yes) return planned(plan, `Plan: ${plan}`);
  const answer = await external.call(ownership.retire, {
    name,
    confirm: name,
    ...(!options.keepServer && { delete: true }),
  });
  return {
    json: answer,
    text: `${name} is stopped, and ${goes} with the next daily batch. Cancel until then with --cancel.`,
  };
}

type AllowlistOptions = Data & { revoke?: boolean; grant?: boolean };

export async function allowlist(
  name: string,
  player: string | undefined,
  options: AllowlistOptions,
): Promise<Outcome> {
  const external = connectExternal(options.data);
  const { revoke = false, grant = false } = options;
  if (revoke !== grant) {
    if (player === undefined) throw new UsageError("name a player: a UUID from the list");
    await external.call(ownership.changeAllowlist, { name, uuid: player, can_wake: grant });
    const text = `${player} ${grant ? "can wake" : "can no longer wake"} ${name}.`;
    return { json: { name, mc_uuid: player, can_wake: grant }, text };
  }
  if (revoke || player !== undefined) throw new UsageError("with a player give --revoke or --grant");
  const { entries } = await external.call(ownership.listAllowlist, { name });
  const rows = entries.map((entry) => [
    entry.mc_uuid,
    entry.username ?? "-",
    entry.can_wake ? "yes" : "no",
    entry.added_at.slice(0, 19),
  ]);
  const text =
    rows.length === 0
      ? `Nobody has joined ${name} yet.`
      : table([["PLAYER", "ACCOUNT", "MAY WAKE", "SINCE"], ...rows]);
  return { json: entries, text };
}
