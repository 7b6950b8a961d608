import { auditActor, type Context, type Handler, type Mesh } from "@svc/mesh";
import { type AnyContract, acceptances } from "@svc/proto";
import { auditRow } from "@svc/store";
import type { Settings } from "../config.ts";
import type { BuildsDb, BuildsTrx } from "../database.ts";
import { readReason } from "../reason.ts";
import { mostAcceptances, readExpiry, readPackage, readRepository } from "./rules.ts";
import { deleteAcceptance, listAcceptances, saveAcceptance, toAcceptance } from "./store.ts";

type Deps = { db: BuildsDb; settings: Settings; now?: (() => number) | undefined };

export function serveAcceptances({ mesh, ...deps }: Deps & { mesh: Pick<Mesh, "serve"> }): void {
  mesh.serve(acceptances.listAcceptances, createList(deps));
  mesh.serve(acceptances.addAcceptance, createAdd(deps));
  mesh.serve(acceptances.removeAcceptance, createRemove(deps));
}

/** builds.acceptance.list */
function createList({ db }: Deps): Handler<typeof acceptances.listAcceptances> {
  return async (_context, { repository, limit, offset }) => {
    const { rows, total } = await listAcceptances(db, { repository, limit, offset });
    return { acceptances: rows.map(toAcceptance), total };
  };
}

/** builds.acceptance.add */
function createAdd({ db, settings, now = Date.now }: Deps): Handler<typeof acceptances.addAcceptance> {
  return async (context, input) => {
    const about = {
      finding_id: input.finding_id,
      package: readPackage(input.package),
      repository: readRepository(input.repository, settings.registry.url),
      reason: readReason(input.reason),
      accepted_by: auditActor(context).actor,
      expires_at: readExpiry(input.expires_at, {
        now: now(),
        longestMs: settings.builds.acceptance_longest,
      }),
    };
    return db.transaction().execute(async (trx) => {
      const row = await saveAcceptance(trx, about, mostAcceptances);
      if (!row) throw context.fault("acceptance_limit");
      await addAudit(trx, context, { action: "acceptance.add", acceptance: toAcceptance(row) });
      return toAcceptance(row);
    });
  };
}

/** builds.acceptance.remove */
function createRemove({ db }: Deps): Handler<typeof acceptances.removeAcceptance> {
  return async (context, { id }) =>
    db.transaction().execute(async (trx) => {
      const row = await deleteAcceptance(trx, id);
      if (!row) throw context.fault("not_found", { message: "There is no acceptance with this id." });
      await addAudit(trx, context, { action: "acceptance.remove", acceptance: toAcceptance(row) });
      return null;
    });
}

async function addAudit(
  trx: BuildsTrx,
  context: Context<AnyContract>,
  { action, acceptance }: { action: string; acceptance: acceptances.Acceptance },
): Promise<void> {
  const { accepted_by: _by, accepted_at: _at, ...payload } = acceptance;
  const entry = auditRow("builds", { ...auditActor(context), action, payload });
  await trx.insertInto("outbox").values(entry).execute();
}
