import { auditActor, type Handler, type Mesh } from "@svc/mesh";
import type { images } from "@svc/proto";
import type { BuildsDb } from "../database.ts";
import { problemOfEntry } from "./reference.ts";
import { addImage, toImage } from "./store.ts";

/** builds.image.add: an entry that is there already is switched on and otherwise stays as it is. */
export function createAdd({
  db,
  mesh,
}: {
  db: BuildsDb;
  mesh: Pick<Mesh, "audit">;
}): Handler<typeof images.addImage> {
  return async (context, { image_ref }) => {
    const problem = problemOfEntry(image_ref);
    if (problem !== undefined) throw context.fault("bad_request", { message: `image_ref: ${problem}` });
    const about = auditActor(context);
    const image = toImage(await addImage(db, { imageRef: image_ref, addedBy: about.actor }));
    mesh.audit({ ...about, action: "image.add", payload: { image_ref, source: image.source } });
    return image;
  };
}
