import type { Mesh } from "@svc/mesh";
import { baseImages, registries } from "@svc/proto";
import { openRegistry } from "@svc/registry";
import type { Logger } from "@svc/telemetry";
import { readPruneCredential, type Settings } from "../config.ts";
import type { BuildsDb } from "../database.ts";
import { isPlainHttp } from "../image/registry.ts";
import { startRecurring } from "../recurring.ts";
import { createPrune, type PruneDeps, pruneRegistry } from "./prune.ts";
import { readKeepers } from "./sources.ts";

type RegistryDeps = {
  db: BuildsDb;
  mesh: Pick<Mesh, "serve" | "call">;
  settings: Settings;
  log: Pick<Logger, "info" | "warn">;
};

const retryMs = 15 * 60_000;

/** Serves the prune; one replica runs it from time to time. */
export function serveRegistry({ db, mesh, settings, log }: RegistryDeps): { stop: () => Promise<void> } {
  const deps = pruneDeps({ db, mesh, settings });
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

function pruneDeps({ db, mesh, settings }: Omit<RegistryDeps, "log">): PruneDeps {
  const { url: host, timeout: timeoutMs } = settings.registry;
  const plainHttp = isPlainHttp(settings.registry);
  const credential = readPruneCredential(settings);
  const { repository, tag } = baseImages.demoServerImage;
  const platformImages = [`${host}/${repository}:${tag}`, ...imagesIn(settings)];
  return {
    db,
    registry: host === "" ? undefined : openRegistry({ host, plainHttp, timeoutMs, credential }),
    readKeepers: () => readKeepers({ db, mesh, host, platformImages }),
    now: Date.now,
  };
}

/** Every setting that names an image, whatever it is called. */
function imagesIn(settings: Settings): string[] {
  const values = [...Object.values(settings.registry), ...Object.values(settings.builds)].flat();
  return values.filter((value): value is string => typeof value === "string");
}
