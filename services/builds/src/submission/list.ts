import type { Handler } from "@svc/mesh";
import type { InputOf, submissions } from "@svc/proto";
import { accountOf } from "./caller.ts";
import type { SubmissionDeps } from "./deps.ts";
import { toSubmission } from "./row.ts";
import { getListed, listSubmissions } from "./store.ts";

type Deps = Pick<SubmissionDeps, "db" | "settings">;

/** builds.submission.list-own */
export const listOwn =
  (deps: Deps): Handler<typeof submissions.listOwn> =>
  ({ principal }, wanted) =>
    page(deps, wanted, accountOf(principal).userId);

/** builds.submission.list */
export const list =
  (deps: Deps): Handler<typeof submissions.list> =>
  (_context, wanted) =>
    page(deps, wanted);

/** builds.submission.read-own */
export const readOwn =
  ({ db, settings }: Deps): Handler<typeof submissions.readOwn> =>
  async ({ principal }, { id }) =>
    toSubmission(settings, await getListed(db, id, accountOf(principal).userId));

/** builds.submission.read */
export const read =
  ({ db, settings }: Deps): Handler<typeof submissions.read> =>
  async (_context, { id }) =>
    toSubmission(settings, await getListed(db, id));

async function page(
  { db, settings }: Deps,
  wanted: InputOf<typeof submissions.list>,
  userId?: string,
): Promise<submissions.SubmissionPage> {
  const { rows, total, counts } = await listSubmissions(db, { ...wanted, userId });
  return { submissions: rows.map((row) => toSubmission(settings, row)), total, counts };
}
