import type { Mesh } from "@svc/mesh";
import { images } from "@svc/proto";
import type { Settings } from "../config.ts";
import type { BuildsDb } from "../database.ts";
import { createAdd } from "./add.ts";
import { createAdmit } from "./admit.ts";
import { createList } from "./list.ts";
import { createListVersions } from "./list-versions.ts";
import { createProvenanceCheck } from "./provenance-check.ts";
import { createRegistry } from "./registry.ts";
import { createRemove } from "./remove.ts";

type ImageDeps = { db: BuildsDb; mesh: Pick<Mesh, "serve">; settings: Settings };

export function serveImages({ db, mesh, settings }: ImageDeps): void {
  mesh.serve(images.listImages, createList({ db, pageSize: settings.builds.list_page }));
  const registry = createRegistry(settings.registry);
  const provenance = createProvenanceCheck({ db, settings });
  mesh.serve(images.listVersions, createListVersions({ db, registry }));
  mesh.serve(images.addImage, createAdd({ db, registry, provenance }));
  mesh.serve(images.removeImage, createRemove(db));
  mesh.serve(images.admitImage, createAdmit({ db, registry, provenance }));
}
