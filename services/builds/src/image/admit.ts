import type { Handler } from "@svc/mesh";
import type { images } from "@svc/proto";
import { parseReference } from "@svc/registry";
import type { BuildsDb } from "../database.ts";
import type { ProvenanceCheck } from "./provenance-check.ts";
import { entriesAdmitting, pinned } from "./reference.ts";
import type { PlatformRegistry } from "./registry.ts";
import { isListed } from "./store.ts";

/** builds.image.admit: the list is asked first, so that nobody probes the registry through it. */
export function createAdmit(deps: {
  db: BuildsDb;
  registry: PlatformRegistry | undefined;
  provenance: ProvenanceCheck;
}): Handler<typeof images.admitImage> {
  const { db, registry, provenance } = deps;
  return async (context, { image_ref }) => {
    const reference = parseReference(image_ref);
    if (!reference || !(await isListed(db, entriesAdmitting(reference)))) {
      throw context.fault("image_not_whitelisted");
    }
    if (!registry || reference.host !== registry.host) {
      if (!(await provenance.passes(reference, undefined))) throw context.fault("image_without_provenance");
      return { image_ref };
    }
    const found = await registry.resolve(reference, context.signal);
    if (found.kind === "missing") throw context.fault("image_not_in_registry");
    if (found.kind === "failed") throw context.fault("registry_unavailable", { cause: found.cause });
    if (!(await provenance.passes(reference, found.digest))) throw context.fault("image_without_provenance");
    return { image_ref: pinned(reference, found.digest) };
  };
}
