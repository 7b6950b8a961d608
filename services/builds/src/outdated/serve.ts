import type { Handler, Mesh } from "@svc/mesh";
import { images } from "@svc/proto";
import { parseReference } from "@svc/registry";
import type { Settings } from "../config.ts";
import type { BuildsDb } from "../database.ts";
import { createRegistry, type PlatformRegistry } from "../image/registry.ts";
import { imagesOfServers } from "../registry/sources.ts";
import { type BuiltImage, type Digests, decideOutdated, tagsOf } from "./decide.ts";

type Deps = { db: BuildsDb; mesh: Pick<Mesh, "serve" | "call">; settings: Settings };

const mostImages = 500;
const mostServers = 1_000;
/** Questions to the registry at once. */
const atOnce = 8;

export function serveOutdated(deps: Deps): void {
  deps.mesh.serve(images.listOutdated, createListOutdated(deps));
}

/** builds.image.list-outdated */
function createListOutdated({ db, mesh, settings }: Deps): Handler<typeof images.listOutdated> {
  const registry = createRegistry(settings.registry);
  return async (context) => {
    if (!registry) return { images: [], servers: [] };
    const [built, used] = await Promise.all([listBuilt(db), imagesOfServers(mesh)]);
    const { host } = registry;
    const digests = await digestsOf(registry, tagsOf(built, used, host), context.signal).catch(
      (cause: Error) => {
        throw context.fault("registry_unavailable", { cause });
      },
    );
    const found = decideOutdated({ built, used, host }, digests);
    return { images: found.images.slice(0, mostImages), servers: found.servers.slice(0, mostServers) };
  };
}

/** Allowed images by name with the bases of their last build. */
function listBuilt(db: BuildsDb): Promise<BuiltImage[]> {
  return db
    .selectFrom("image_whitelist as w")
    .innerJoin("image_builds as b", "b.id", "w.build_id")
    .select(["w.image_ref", "b.id as build_id", "b.bases"])
    .select((of) =>
      of
        .selectFrom("image_builds as next")
        .select("next.id")
        .whereRef("next.image_ref", "=", "w.image_ref")
        .where("next.kind", "=", "build")
        .where("next.finished_at", "is", null)
        .orderBy("next.arrival", "desc")
        .limit(1)
        .as("unfinished"),
    )
    .where("w.enabled", "=", true)
    .orderBy("w.image_ref")
    .execute();
}

async function digestsOf(
  registry: PlatformRegistry,
  tags: readonly string[],
  signal: AbortSignal,
): Promise<Digests> {
  const digests = new Map<string, string | null>();
  const left = [...tags];
  const ask = async () => {
    for (let tag = left.pop(); tag !== undefined; tag = left.pop()) {
      const reference = parseReference(tag);
      if (!reference) continue;
      const found = await registry.resolve(reference, signal);
      if (found.kind === "failed") throw found.cause;
      digests.set(tag, found.kind === "found" ? found.digest : null);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  return digests;
}
