import type { Mesh } from "@svc/mesh";
import { baseImages, offsiteBuilds, registries } from "@svc/proto";
import { openRegistry } from "@svc/registry";
import { Gauge, type Logger, type Registry as Metrics } from "@svc/telemetry";
import { readPruneCredential, readRestoreCredential, type Settings } from "../config.ts";
import type { BuildsDb } from "../database.ts";
import { isPlainHttp } from "../image/registry.ts";
import { startRecurring } from "../recurring.ts";
import { readImagePart, readImages, tagImage, writeImagePart } from "./offsite-images.ts";
import { createPrune, type PruneDeps, pruneRegistry } from "./prune.ts";
import { readKeepers } from "./sources.ts";

type RegistryDeps = {
  db: BuildsDb;
  mesh: Pick<Mesh, "serve" | "call" | "byteTransfers">;
  settings: Settings;
  env?: NodeJS.ProcessEnv | undefined;
  metrics: Metrics;
  log: Pick<Logger, "info" | "warn">;
};

const retryMs = 15 * 60_000;

/** Serves the prune and off-site copies of images; one replica prunes from time to time. */
export function serveRegistry(about: RegistryDeps): { stop: () => Promise<void> } {
  const { db, mesh, settings, log } = about;
  const deps = pruneDeps(about);
  serveOffsite(about, deps);
  mesh.serve(registries.pruneRegistry, createPrune(deps));
  const { prune_every: everyMs } = settings.registry;
  if (!deps.registry || everyMs === 0) return { stop: async () => undefined };
  const task = startRecurring({
    db,
    log,
    name: "prune of the registry",
    everyMs,
    retryMs: Math.min(everyMs, retryMs),
    work: async (signal) => {
      const { deleted_count, manifests } = await pruneRegistry(deps, { isDryRun: false, signal });
      log.info({ deleted: deleted_count, manifests }, "registry pruned");
    },
  });
  return { stop: task.close };
}

function serveOffsite({ mesh, settings, env }: RegistryDeps, { registry, readKeepers }: PruneDeps): void {
  const { url: host, timeout: timeoutMs } = settings.registry;
  const plainHttp = isPlainHttp(settings.registry);
  const deps = {
    byteTransfers: mesh.byteTransfers,
    readKeepers,
    registry:
      registry &&
      openRegistry({ host, plainHttp, timeoutMs, credential: readRestoreCredential(settings, env) }),
  };
  mesh.serve(offsiteBuilds.readImages, readImages(deps));
  mesh.serve(offsiteBuilds.readImagePart, readImagePart(deps));
  mesh.serve(offsiteBuilds.writeImagePart, writeImagePart(deps));
  mesh.serve(offsiteBuilds.tagImage, tagImage(deps));
}

function pruneDeps({ db, mesh, settings, metrics }: RegistryDeps): PruneDeps {
  const { cache_author_bytes: authorBytes, cache_bytes: bytes, cache_keep: keepMs } = settings.builds;
  const cached = new Gauge({
    name: "svc_image_layer_cache_bytes",
    help: "Layers kept for later builds, as the last prune of this replica left them.",
    registers: [metrics],
  });
  const { url: host, timeout: timeoutMs } = settings.registry;
  const plainHttp = isPlainHttp(settings.registry);
  const credential = readPruneCredential(settings);
  const demoServers = baseImages.demoServerImages.map(
    ({ repository, tag }) => `${host}/${repository}:${tag}`,
  );
  const platformImages = [...demoServers, ...imagesIn(settings)];
  return {
    db,
    registry: host === "" ? undefined : openRegistry({ host, plainHttp, timeoutMs, credential }),
    readKeepers: () => readKeepers({ db, mesh, host, platformImages }),
    cache: { authorBytes, bytes, keepMs },
    onCached: (left) => cached.set(left),
    now: Date.now,
  };
}

/** Every setting that names an image, whatever it is called. */
function imagesIn(settings: Settings): string[] {
  const values = [...Object.values(settings.registry), ...Object.values(settings.builds)].flat();
  return values.filter((value): value is string => typeof value === "string");
}
