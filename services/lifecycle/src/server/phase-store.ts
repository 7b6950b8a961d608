// SQL of the phases that the leader records.

import { servers as contracts, type Phase } from "@svc/proto";
import { outboxRow } from "@svc/store";
import { sql } from "kysely";
import type { LifecycleStore } from "../database/schema.ts";

export type PhaseChange = { name: string; known: string | null; to: Phase; reason: string; at: Date };

// One statement notifies the relay once and flushes to disk once, whatever the number of changes.
export const phaseBatch = { maxItems: 128, concurrency: 4, keyOf: ({ name }: PhaseChange) => name };

/** Whether each change was made; its event and its place in the history are in the same statement. */
export async function changePhases(
  { db }: LifecycleStore,
  changes: readonly PhaseChange[],
): Promise<boolean[]> {
  const events = changes.map(({ name, known, to, reason, at }) => {
    const from = (known ?? "Unknown") as Phase;
    return outboxRow(contracts.serverPhaseChanged, { name, from, to, reason, at: at.toISOString() });
  });
  const { rows } = await sql<{ name: string }>`with wanted as (
      select * from unnest(
        ${changes.map(({ name }) => name)}::text[], ${changes.map(({ known }) => known)}::text[],
        ${changes.map(({ to }) => to)}::text[],
        ${changes.map(({ at }) => at)}::timestamptz[],
        ${events.map(({ subject }) => subject)}::text[], ${events.map(({ body }) => body)}::text[]
      ) as w (name, known, target, at, subject, body)
    ), changed as (
      update servers s set cached_phase = w.target from wanted w
      where s.name = w.name and s.cached_phase is not distinct from w.known
      returning s.name, w.known, w.target, w.at, w.subject, w.body
    ), noted as (
      insert into server_phases (server_name, at, phase, is_wake, start_seconds)
      select c.name, c.at, c.target, c.target = 'Starting' and coalesce(c.known, 'Unknown') in ('Stopped', 'Unknown'),
        case when c.target = 'Running' and c.known = 'Starting' then
          (select extract(epoch from c.at - p.at) from server_phases p
            where p.server_name = c.name and p.at <= c.at order by p.at desc limit 1)
        end
      from changed c
      on conflict (server_name, at) do update
        set phase = excluded.phase, is_wake = excluded.is_wake, start_seconds = excluded.start_seconds
    ), published as (insert into outbox (subject, body) select subject, body from changed)
    select name from changed`.execute(db);
  const done = new Set(rows.map(({ name }) => name));
  return changes.map(({ name }) => done.has(name));
}
