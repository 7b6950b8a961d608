import type { Handler, Mesh } from "@svc/mesh";
import { provenances } from "@svc/proto";
import { parseReference } from "@svc/registry";
import { findBuild } from "../build/store.ts";
import type { Settings } from "../config.ts";
import type { BuildsDb } from "../database.ts";
import { createRegistry } from "../image/registry.ts";
import { findProvenance } from "./store.ts";

type Deps = { db: BuildsDb; mesh: Pick<Mesh, "serve">; settings: Settings };

export function serveProvenance(deps: Deps): void {
  deps.mesh.serve(provenances.readProvenance, createRead(deps));
  deps.mesh.serve(provenances.findProvenance, createFind(deps));
}

/** builds.provenance.read */
function createRead({ db }: Deps): Handler<typeof provenances.readProvenance> {
  return async (context, { id }) => {
    const found = await findProvenance(db, { buildId: id });
    if (found) return found;
    if (await findBuild(db, id)) throw context.fault("provenance_not_found");
    throw context.fault("not_found", { message: "There is no build with this id." });
  };
}

/** builds.provenance.find */
function createFind({ db, settings }: Deps): Handler<typeof provenances.findProvenance> {
  const registry = createRegistry(settings.registry);
  return async (context, { image_ref }) => {
    const reference = parseReference(image_ref);
    if (!reference || !registry || reference.host !== registry.host)
      throw context.fault("provenance_not_found");
    const found = await registry.resolve(reference, context.signal);
    if (found.kind === "missing") throw context.fault("image_not_in_registry");
    if (found.kind === "failed") throw context.fault("registry_unavailable", { cause: found.cause });
    const provenance = await findProvenance(db, { digest: found.digest });
    if (!provenance) throw context.fault("provenance_not_found");
    return provenance;
  };
}
