import type { Handler } from "@svc/mesh";
import type { images } from "@svc/proto";
import type { ImageDeps } from "./serve.ts";
import { listImages, toImage } from "./store.ts";

/** builds.image.list */
export function createList({ db, settings }: ImageDeps): Handler<typeof images.listImages> {
  const size = settings.builds.list_page;
  return async (_context, { cursor }) => {
    const rows = await listImages(db, { after: cursor ?? "", limit: size + 1 });
    const items = rows.slice(0, size).map(toImage);
    const next = rows.length > size ? items.at(-1)?.image_ref : undefined;
    return next === undefined ? { items } : { items, next };
  };
}
