import { auditActor, type Handler } from "@svc/mesh";
import type { images } from "@svc/proto";
import { auditRow } from "@svc/store";
import type { BuildsDb } from "../database.ts";
import { removeImage } from "./store.ts";

/** builds.image.remove */
export function createRemove(db: BuildsDb): Handler<typeof images.removeImage> {
  return async (context, { ref }) => {
    return db.transaction().execute(async (trx) => {
      const removed = await removeImage(trx, ref);
      if (!removed) throw context.fault("not_found", { message: "This entry is not on the whitelist." });
      const payload = { image_ref: ref, source: removed.source };
      const audit = auditRow("builds", { ...auditActor(context), action: "image.remove", payload });
      await trx.insertInto("outbox").values(audit).execute();
      return null;
    });
  };
}
