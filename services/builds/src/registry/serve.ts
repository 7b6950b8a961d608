import type { Mesh } from "@svc/mesh";
import { baseImages, registries } from "@svc/proto";
import { openRegistry } from "@svc/registry";
import { readPruneCredential, type Settings } from "../config.ts";
import type { BuildsDb } from "../database.ts";
import { isPlainHttp } from "../image/registry.ts";
import { createPrune, type PruneDeps, pruneRegistry } from "./prune.ts";
import { readKeepers } from "./sources.ts";
import { startPruning } from "./timer.ts";

type RegistryDeps = {
  db: BuildsDb;
  mesh: Pick<Mesh, "serve" | "call">;
  settings: Settings;
  log: { info: (fields: object, text: string) => void; error: (fields: object, text: string) => void };
};

/** Serves the prune and runs it from time to time. */
export function serveRegistry({ db, mesh, settings, log }: RegistryDeps): { stop: () => Promise<void> } {
  const deps = pruneDeps({ db, mesh, settings });
  mesh.serve(registries.pruneRegistry, createPrune(deps));
  const { prune_every: everyMs } = settings.registry;
  if (!deps.registry || everyMs === 0) return { stop: async () => undefined };
  return startPruning({
    everyMs,
    prune: (signal) => pruneRegistry(deps, { isDryRun: false, signal }),
    log,
  });
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
