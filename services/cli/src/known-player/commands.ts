// Who played where, notes, and one ban for several servers (docs/reference/players.md).

import { knownPlayers, type OutputOf, playerData } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { CommandError, type Outcome, planned, table, UsageError } from "../output.ts";

type At = { data: string };
export type ListOptions = At & { server?: string; search?: string; sort?: knownPlayers.Sort; all?: boolean };
export type NoteOptions = At & { server: string };
export type AccessOptions = At & { servers?: string[] };

const firstPage = { sort: "last_seen", limit: 100, offset: 0 } as const;

export async function list({ data, server, search, sort, all }: ListOptions): Promise<Outcome> {
  const external = connectExternal(data);
  const asked = {
    ...firstPage,
    ...(server !== undefined && { server }),
    ...(search !== undefined && { text: search }),
    ...(sort !== undefined && { sort }),
  };
  const found = await external.call(knownPlayers.list, asked);
  while (all && found.players.length < found.total) {
    const next = await external.call(knownPlayers.list, { ...asked, offset: found.players.length });
    if (next.players.length === 0) break;
    found.players.push(...next.players);
  }
  return { json: found, text: listText(found) };
}

export function listText({ players, total }: OutputOf<typeof knownPlayers.list>): string {
  if (total === 0) return "No players are known.";
  const rows = players.map((one) => [
    ...[one.name, clock(one.played_seconds), String(one.visits), String(one.servers)],
    ...[one.first_seen, one.last_seen, one.mc_uuid],
  ]);
  const text = table([["PLAYER", "PLAYED", "VISITS", "SERVERS", "FIRST SEEN", "LAST SEEN", "UUID"], ...rows]);
  return players.length < total ? `${text}\n${total - players.length} more: add --all.` : text;
}

/** `90061` seconds are `25h 1m`. */
function clock(seconds: number): string {
  return `${Math.floor(seconds / 3_600)}h ${Math.floor((seconds % 3_600) / 60)}m`;
}

export async function show(who: string, { data }: At): Promise<Outcome> {
  const external = connectExternal(data);
  const found = await external.call(knownPlayers.read, { mc_uuid: await idOf(who, data) });
  const rows = found.servers.map((one) => [
    ...[one.server, one.online ? "yes" : "no", clock(one.played_seconds), String(one.visits)],
    ...[one.first_seen, one.last_seen],
  ]);
  const servers = table([["SERVER", "ONLINE", "PLAYED", "VISITS", "FIRST SEEN", "LAST SEEN"], ...rows]);
  const notes = found.notes.map(
    ({ id, server, author, at, text }) => `${at}  ${server}  ${author}  ${id}\n  ${text}`,
  );
  const text = [`${found.name}  ${found.mc_uuid}`, servers, ...notes].join("\n");
  return { json: found, text };
}

/** A UUID as it is; a name must be the one of exactly one known player. */
async function idOf(who: string, data: string): Promise<string> {
  if (/^[0-9a-f-]{32,36}$/i.test(who)) return who;
  const { players } = await connectExternal(data).call(knownPlayers.list, { ...firstPage, text: who });
  const named = players.filter(({ name }) => name.toLowerCase() === who.toLowerCase());
  const [one] = named;
  if (one && named.length === 1) return one.mc_uuid;
  throw new CommandError(
    one ? `Several players are called ${who}; give the UUID.` : `No known player is called ${who}.`,
  );
}

export async function change(
  action: knownPlayers.AccessAction,
  who: string,
  { data, servers = [] }: AccessOptions,
): Promise<Outcome> {
  if (servers.length === 0) throw new UsageError("Name the servers: --servers survival,creative.");
  const external = connectExternal(data);
  const mc_uuid = await idOf(who, data);
  const done = await external.call(knownPlayers.changeAccess, { mc_uuid, action, servers });
  const rows = done.results.map(({ server, output = "", error }) => [
    ...[server, error ? error.code : "done", error ? error.message : output],
  ]);
  const text = table([["SERVER", "RESULT", "SAYS"], ...rows]);
  return { json: done, text, exitCode: done.results.some(({ error }) => error) ? 1 : 0 };
}

export async function addNote(who: string, text: string, { data, server }: NoteOptions): Promise<Outcome> {
  const mc_uuid = await idOf(who, data);
  const note = await connectExternal(data).call(knownPlayers.addNote, { name: server, mc_uuid, text });
  return { json: note, text: `Noted as ${note.id}. The player can read it, without your name.` };
}

export async function removeNote(who: string, id: string, { data, server }: NoteOptions): Promise<Outcome> {
  const mc_uuid = await idOf(who, data);
  await connectExternal(data).call(knownPlayers.removeNote, { name: server, mc_uuid, id });
  return { json: { id }, text: `Deleted ${id}.` };
}

/** What is kept about a player of one's own, as the JSON document that it is. */
export async function readData(mc_uuid: string, { data }: At): Promise<Outcome> {
  const kept = await connectExternal(data).call(playerData.read, { mc_uuid });
  return { json: kept, text: JSON.stringify(kept, undefined, 2) };
}

export async function eraseData(mc_uuid: string, { data, yes }: At & { yes?: boolean }): Promise<Outcome> {
  const plan = { mc_uuid };
  if (!yes)
    return planned(
      plan,
      `Would erase what servers know about ${mc_uuid}, and notes about it. Bans and whitelists stay.`,
    );
  await connectExternal(data).call(playerData.erase, plan);
  return { json: { ...plan, done: true }, text: `Erased what servers knew about ${mc_uuid}.` };
}
