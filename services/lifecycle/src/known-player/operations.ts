// What owners, members and staff see of known players, and notes about them (docs/reference/players.md).

import { randomBytes } from "node:crypto";
import { auditActor, type Context, type Handler } from "@svc/mesh";
import { type AnyContract, knownPlayers as contracts, Fault } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import type { createPlayerStore } from "../player/store.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import type { Reach, ReadReach } from "./reach.ts";
import { type KnownPlayerStore, seenOf } from "./store.ts";

export type KnownPlayerDeps = ServerDeps & {
  known: KnownPlayerStore;
  online: Pick<ReturnType<typeof createPlayerStore>, "serversOf">;
  reach: ReadReach;
};

export const list =
  (deps: KnownPlayerDeps): Handler<typeof contracts.list> =>
  async (context, { server, text = "", ...paging }) => {
    const reach = await reachOfList(deps, context, server);
    return deps.known.list({ reach, text, ...paging });
  };

async function reachOfList(
  deps: KnownPlayerDeps,
  context: Context<typeof contracts.list>,
  name: string | undefined,
): Promise<Reach> {
  if (name === undefined) return deps.reach(context.principal, contracts.list);
  await findByUserName(deps, name);
  assertAccess(context, { name, row: await deps.store.find(name), to: contracts.list });
  return [name];
}

export const read =
  (deps: KnownPlayerDeps): Handler<typeof contracts.read> =>
  async (context, { mc_uuid }) => {
    const reach = await deps.reach(context.principal, contracts.read);
    const [rows, notes, online] = await Promise.all([
      deps.known.rowsOf(mc_uuid, reach),
      deps.known.notesOf(mc_uuid, reach),
      deps.online.serversOf(mc_uuid),
    ]);
    const [last] = rows;
    if (!last) throw context.fault("known_player_not_found");
    return {
      mc_uuid,
      name: last.name,
      servers: rows.map((row) => ({
        ...{ server: row.server_name, name: row.name, ...seenOf(row) },
        online: online.has(row.server_name),
      })),
      notes: notes.map(({ id, server_name: server, text, author, at }) => ({
        ...{ id, server, text, author, at: at.toISOString() },
      })),
    };
  };

export const addNote =
  (deps: KnownPlayerDeps): Handler<typeof contracts.addNote> =>
  async (context, { name, mc_uuid, text }) => {
    await findByUserName(deps, name);
    const note = {
      ...{ id: `note-${randomBytes(9).toString("hex")}`, server_name: name, mc_uuid, text },
      ...{ author: authorOf(context), at: new Date() },
    };
    const check = checkOf(context, name, contracts.addNote);
    const audit = auditOf(context, "player.note-add", { name, mc_uuid, id: note.id });
    await deps.known.addNote(note, { check, audit, limit: deps.settings.player_notes });
    return { id: note.id, server: name, text, author: note.author, at: note.at.toISOString() };
  };

export const removeNote =
  (deps: KnownPlayerDeps): Handler<typeof contracts.removeNote> =>
  async (context, { name, mc_uuid, id }) => {
    await findByUserName(deps, name);
    const check = checkOf(context, name, contracts.removeNote);
    const audit = auditOf(context, "player.note-remove", { name, mc_uuid, id });
    await deps.known.removeNote(id, { server: name, mcUuid: mc_uuid, check, audit });
    return null;
  };

function checkOf(context: Context<AnyContract>, name: string, to: Pick<AnyContract, "http">) {
  return (row: Parameters<typeof assertAccess>[1]["row"]) => void assertAccess(context, { name, row, to });
}

// The text stays out of the audit log, which is kept longer than notes are.
function auditOf(
  context: Context<AnyContract>,
  action: string,
  { name, mc_uuid, id }: { name: string; mc_uuid: string; id: string },
) {
  return { ...auditActor(context), action, server_name: name, payload: { mc_uuid, id } };
}

function authorOf({ principal }: Context<AnyContract>): string {
  if (principal.kind !== "account") throw new Fault("forbidden");
  return principal.username;
}
