// All SQL on templates.

import { serverTemplates as contracts, Fault } from "@svc/proto";
import { type Selectable, sql } from "kysely";
import { countMade, type Usage, usageOf } from "../database/account-usage.ts";
import { type Audit, insertAudit } from "../database/audit.ts";
import type { LifecycleStore, ServerTemplatesTable } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import type { Saving, Written } from "./input.ts";

type Row = Selectable<ServerTemplatesTable>;

type Save = {
  written: Written;
  by: string;
  /** Gets the template that is there, which nobody else changes meanwhile. */
  decide: (before: contracts.ServerTemplate | undefined) => Saving;
  auditOf: (revision: number) => Audit;
};

export type TemplateStore = {
  /** By name. */
  list: () => Promise<contracts.ServerTemplate[]>;
  find: (name: string) => Promise<contracts.ServerTemplate | undefined>;
  /** Throws what `decide` refuses with, and `template_limit`. */
  save: (save: Save) => Promise<contracts.ServerTemplate>;
  /** Nothing changes where it is not there. */
  remove: (name: string, audit: Audit) => Promise<void>;
  /** What an account owns, and how many servers it has made. */
  usage: (accountId: string) => Promise<{ used: Usage; made: number }>;
};

export function createTemplateStore(store: LifecycleStore): TemplateStore {
  const { db } = store;
  return {
    list: withDatabaseFaults(async () => {
      const rows = await db.selectFrom("server_templates").selectAll().orderBy("name").execute();
      return rows.map(toTemplate);
    }),
    find: withDatabaseFaults(async (name) => {
      const query = db.selectFrom("server_templates").selectAll().where("name", "=", name);
      const row = await query.executeTakeFirst();
      return row && toTemplate(row);
    }),
    save: withDatabaseFaults((about) => save(store, about)),
    remove: withDatabaseFaults((name, audit) =>
      db.transaction().execute(async (trx) => {
        const gone = trx.deleteFrom("server_templates").where("name", "=", name).returning("name");
        if (await gone.executeTakeFirst()) await insertAudit(trx, audit);
      }),
    ),
    usage: withDatabaseFaults(async (accountId) => {
      const [used, made] = await Promise.all([usageOf(db, accountId), countMade(db, accountId)]);
      return { used, made };
    }),
  };
}

function save(
  { db }: LifecycleStore,
  { written, by, decide, auditOf }: Save,
): Promise<contracts.ServerTemplate> {
  return db.transaction().execute(async (trx) => {
    // Two at once must neither both make one name nor both take the last place.
    await sql`select pg_advisory_xact_lock(hashtext('server_templates'))`.execute(trx);
    const rows = trx.selectFrom("server_templates");
    const there = await rows.selectAll().where("name", "=", written.name).executeTakeFirst();
    const before = there && toTemplate(there);
    const saving = decide(before);
    if (saving.kind === "refused") throw new Fault(saving.fault);
    if (saving.kind === "unchanged" && before) return before;
    const revision = saving.kind === "write" ? saving.revision : 1;
    if (!before) {
      const { count } = await rows.select(sql<number>`count(*)::int`.as("count")).executeTakeFirstOrThrow();
      if (count >= contracts.mostTemplates) throw new Fault("template_limit");
    }
    const { name, settings, ...texts } = written;
    const columns = {
      ...{ ...texts, settings: JSON.stringify(settings), revision },
      ...{ changed_by: by, changed_at: new Date() },
    };
    const row = await trx
      .insertInto("server_templates")
      .values({ name, ...columns })
      .onConflict((conflict) => conflict.column("name").doUpdateSet(columns))
      .returningAll()
      .executeTakeFirstOrThrow();
    await insertAudit(trx, auditOf(revision));
    return toTemplate(row);
  });
}

function toTemplate({ changed_at, ...row }: Row): contracts.ServerTemplate {
  return { ...row, changed_at: changed_at.toISOString() };
}
