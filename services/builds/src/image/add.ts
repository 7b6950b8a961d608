import { auditActor, type Handler } from "@svc/mesh";
import type { images } from "@svc/proto";
import { auditRow } from "@svc/store";
import type { BuildsDb } from "../database.ts";
import { problemOfEntry } from "./reference.ts";
import { addImage, toImage } from "./store.ts";

/** builds.image.add: an entry that exists is enabled and otherwise left as it is. */
export function createAdd(db: BuildsDb): Handler<typeof images.addImage> {
  return async (context, { image_ref }) => {
    const problem = problemOfEntry(image_ref);
    if (problem !== undefined) throw context.fault("bad_request", { message: `image_ref: ${problem}` });
    const about = auditActor(context);
    return db.transaction().execute(async (trx) => {
      const image = toImage(await addImage(trx, { imageRef: image_ref, addedBy: about.actor }));
      const payload = { image_ref, source: image.source };
      const audit = auditRow("builds", { ...about, action: "image.add", payload });
      await trx.insertInto("outbox").values(audit).execute();
      return image;
    });
  };
}
