import type { Mesh } from "@svc/mesh";
import { images } from "@svc/proto";
import type { Settings } from "../config.ts";
import type { BuildsDb } from "../database.ts";
import { createAdd } from "./add.ts";
import { createAdmit } from "./admit.ts";
import { createList } from "./list.ts";
import { createRegistry } from "./registry.ts";
import { createRemove } from "./remove.ts";

export type ImageDeps = { db: BuildsDb; mesh: Pick<Mesh, "audit">; settings: Settings };

export function serveImages(mesh: Pick<Mesh, "serve">, deps: ImageDeps): void {
  mesh.serve(images.listImages, createList(deps));
  mesh.serve(images.addImage, createAdd(deps));
  mesh.serve(images.removeImage, createRemove(deps));
  mesh.serve(images.admitImage, createAdmit({ ...deps, registry: createRegistry(deps.settings.registry) }));
}
