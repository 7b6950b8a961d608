import { auditActor, type Context, type Handler } from "@svc/mesh";
import type { images } from "@svc/proto";
import { parseReference } from "@svc/registry";
import { auditRow } from "@svc/store";
import type { BuildsDb } from "../database.ts";
import type { ProvenanceCheck } from "./provenance-check.ts";
import { problemOfEntry } from "./reference.ts";
import type { PlatformRegistry } from "./registry.ts";
import { addImage, toImage } from "./store.ts";

type Deps = {
  db: BuildsDb;
  registry: PlatformRegistry | undefined;
  provenance: ProvenanceCheck;
};

/** builds.image.add: an entry that exists is enabled and otherwise left as it is. */
export function createAdd(deps: Deps): Handler<typeof images.addImage> {
  const { db } = deps;
  return async (context, { image_ref }) => {
    const problem = problemOfEntry(image_ref);
    if (problem !== undefined) throw context.fault("bad_request", { message: `image_ref: ${problem}` });
    await checkProvenance(deps, context, image_ref);
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

/** Of one tag; what `name:*` stands for is checked when a server is to use it. */
async function checkProvenance(
  { registry, provenance }: Deps,
  context: Context<typeof images.addImage>,
  imageRef: string,
): Promise<void> {
  if (!provenance.isRequired) return;
  const isWhole = imageRef.endsWith(":*");
  const reference = parseReference(isWhole ? imageRef.slice(0, -2) : imageRef);
  const isOurs = reference !== undefined && reference.host === registry?.host;
  if (!reference || !registry || !isOurs) throw context.fault("image_without_provenance");
  if (isWhole) return;
  const found = await registry.resolve(reference, context.signal);
  if (found.kind === "missing") throw context.fault("image_not_in_registry");
  if (found.kind === "failed") throw context.fault("registry_unavailable", { cause: found.cause });
  if (!(await provenance.passes(reference, found.digest))) throw context.fault("image_without_provenance");
}
