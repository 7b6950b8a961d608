import type { Handler } from "@svc/mesh";
import type { images } from "@svc/proto";
import type { BuildsDb } from "../database.ts";
import { listImages, toImage } from "./store.ts";

/** builds.image.list */
export function createList({
  db,
  pageSize,
}: {
  db: BuildsDb;
  pageSize: number;
}): Handler<typeof images.listImages> {
  return async (_context, { cursor }) => {
    const rows = await listImages(db, { after: cursor ?? "", limit: pageSize + 1 });
    const items = rows.slice(0, pageSize).map(toImage);
    const next = rows.length > pageSize ? items.at(-1)?.image_ref : undefined;
    return next === undefined ? { items } : { items, next };
  };
}
