// What a pack became, for its author and its reviewer.

import type { Handler } from "@svc/mesh";
import { Fault, type packs, type submissions } from "@svc/proto";
import { findPlan } from "../pack/store.ts";
import { accountOf } from "./caller.ts";
import type { SubmissionDeps } from "./deps.ts";
import type { SubmissionRow } from "./row.ts";
import { getListed } from "./store.ts";

type Deps = Pick<SubmissionDeps, "db">;
type Page = { limit: number; offset: number };

/** builds.submission.read-pack */
export const readPack =
  ({ db }: Deps): Handler<typeof submissions.readPack> =>
  async (_context, { id, ...page }) =>
    read(db, await getListed(db, id), page);

/** builds.submission.read-own-pack */
export const readOwnPack =
  ({ db }: Deps): Handler<typeof submissions.readOwnPack> =>
  async ({ principal }, { id, ...page }) =>
    read(db, await getListed(db, id, accountOf(principal).userId), page);

async function read(db: Deps["db"], row: SubmissionRow, page: Page): Promise<submissions.Pack> {
  const plan = await findPlan(db, row.id);
  if (!plan) throw new Fault("not_found", { message: "This submission is not a pack without a Dockerfile." });
  return toPack(plan, row.dockerfile, page);
}

const mostLeftOut = 200;

function toPack(plan: packs.PackPlan, dockerfile: string, { limit, offset }: Page): submissions.Pack {
  const { downloads, left_out, ...summary } = plan;
  const hosts = new Set(downloads.flatMap(({ urls }) => urls.map((url) => new URL(url).host)));
  return {
    ...summary,
    dockerfile,
    downloads: downloads.slice(offset, offset + limit),
    downloads_total: downloads.length,
    download_bytes: downloads.reduce((sum, { size }) => sum + size, 0),
    hosts: [...hosts].sort(),
    left_out: left_out.slice(0, mostLeftOut),
    left_out_total: left_out.length,
  };
}
