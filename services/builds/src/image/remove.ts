import { auditActor, type Handler, type Mesh } from "@svc/mesh";
import type { images } from "@svc/proto";
import type { BuildsDb } from "../database.ts";
import { removeImage } from "./store.ts";

/** builds.image.remove */
export function createRemove({
  db,
  mesh,
}: {
  db: BuildsDb;
  mesh: Pick<Mesh, "audit">;
}): Handler<typeof images.removeImage> {
  return async (context, { ref }) => {
    const removed = await removeImage(db, ref);
    if (!removed) throw context.fault("not_found", { message: "This entry is not on the whitelist." });
    const payload = { image_ref: ref, source: removed.source };
    mesh.audit({ ...auditActor(context), action: "image.remove", payload });
    return null;
  };
}
